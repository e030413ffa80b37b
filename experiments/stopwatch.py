"""Seconds spent in functions, by name."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any


class Stopwatch:
    """Wraps functions; ``spent`` has the seconds in them since it was last cleared."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which adds its time to ``spent[name]``."""

        def run(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            result = function(*arguments, **keywords)
            self.spent[name] += time.perf_counter() - start
            return result

        return run
