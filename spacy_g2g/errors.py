"""Every error and warning text of the library, each with a code.

Use as ``raise ValueError(Errors.E101.format(...))``. Codes: 1xx ``parsing``, 2xx ``layers``,
3xx ``formats``, ``training``, ``evaluation`` and ``cli``, 4xx ``models``, 5xx ``pipeline``.
A text names the bad value and says what was expected.
"""


class _TextsWithCodes(type):
    """Puts the attribute's name in front of its text: ``Errors.E101`` -> ``"[G2G-E101] ..."``."""

    def __getattribute__(cls, name: str) -> str:
        text: str = super().__getattribute__(name)
        return text if name.startswith("__") else f"[G2G-{name}] {text}"


class Errors(metaclass=_TextsWithCodes):
    """Texts of exceptions, to be completed with ``str.format``."""

    # 1xx: parsing

    # 2xx: layers

    # 3xx: formats, training, evaluation, cli

    # 4xx: models

    # 5xx: pipeline


class Warnings(metaclass=_TextsWithCodes):
    """Texts of warnings, to be completed with ``str.format``."""
