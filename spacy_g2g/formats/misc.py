"""White space in the column MISC, as UDPipe writes it: SpaceAfter, SpacesAfter, SpacesBefore, SpacesInToken.

https://ufal.mff.cuni.cz/udpipe/1/users-manual describes these features.
"""

import re

NO_SPACE = "SpaceAfter=No"
#: How characters are spelled. Other white space is spelled by its number, such as \\u00a0.
_ESCAPES = {" ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p", "\\": "\\\\"}
_CHARACTERS = {spelled: char for char, spelled in _ESCAPES.items()}


def escape(white_space: str) -> str:
    """Spell white space as MISC has it."""
    return "".join(_ESCAPES.get(char, f"\\u{ord(char):04x}") for char in white_space)


def unescape(cell: str) -> str:
    """Return a text that ``escape`` has spelled. What is no spelling stays as it is."""

    def read(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _CHARACTERS.get(match[0], match[0])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|.)", read, cell)


def misc_text(misc: str, name: str) -> str:
    """Return the value of a feature of MISC without its spelling, "" without the feature."""
    return next((unescape(f[len(name) + 1 :]) for f in misc.split("|") if f.startswith(f"{name}=")), "")


def white_space(misc: str, name: str) -> str:
    """Return the white space of a feature of MISC, "" if it has none or other characters."""
    return text if (text := misc_text(misc, name)).isspace() else ""
