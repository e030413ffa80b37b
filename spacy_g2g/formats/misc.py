"""White space in the column MISC, as UDPipe writes it: SpaceAfter, SpacesAfter, SpacesBefore, SpacesInToken.

https://ufal.mff.cuni.cz/udpipe/1/users-manual describes these features.
"""

import re

NO_SPACE = "SpaceAfter=No"
#: Escapes of characters. Other white space is escaped by its code point, such as \\u00a0.
_ESCAPES = {" ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p", "\\": "\\\\"}
_CHARACTERS = {escaped: char for char, escaped in _ESCAPES.items()}


def escape(white_space: str) -> str:
    """Write white space as MISC has it."""
    return "".join(_ESCAPES.get(char, f"\\u{ord(char):04x}") for char in white_space)


def unescape(cell: str) -> str:
    """Undo ``escape``. Anything that is not an escape stays as it is."""

    def read(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _CHARACTERS.get(match[0], match[0])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|.)", read, cell)


def misc_text(misc: str, *, name: str) -> str:
    """Return the value of a feature of MISC without its escapes, "" without the feature."""
    for feature in misc.split("|"):
        if feature.startswith(f"{name}="):
            return unescape(feature.removeprefix(f"{name}="))
    return ""


def white_space(misc: str, *, name: str) -> str:
    """Return the white space of a feature of MISC, "" if it is empty or has other characters."""
    text = misc_text(misc, name=name)
    return text if text.isspace() else ""
