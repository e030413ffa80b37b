"""Messages on the terminal. Control characters from files have no effect there."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from wasabi.printer import Printer

#: Characters that control a terminal or the direction of writing, except line ends and tabs.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object) -> str:
    """Replace each character that would control the terminal by U+FFFD."""
    return CONTROLS.sub("\ufffd", str(text))


class SafePrinter(Printer):
    """Printer of messages and tables that prints no control characters."""

    def text(self, title: object = "", text: Any = "", *arguments: Any, **settings: Any) -> Any:
        """Print a message. Messages of all kinds pass through here."""
        return super().text(printable(title), printable(text), *arguments, **settings)

    def table(self, data: Iterable[Sequence[object]], **settings: Any) -> Any:
        """Print rows as a table."""
        return super().table([list(map(printable, row)) for row in data], **settings)


msg = SafePrinter()
