"""A training that goes on after a stop, from its last evaluation, with the losses that it would have had."""

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from spacy.language import Language
from spacy.training.loggers import console_logger

Info = dict[str, Any]
Logger = Callable[[Language, IO[str], IO[str]], tuple[Callable[[Info | None], None], Callable[[], None]]]


def make_resumable_logger(
    path: str | None = None, *, progress_bar: bool = False, logger: Logger | None = None
) -> Logger:
    """Make the logger ``spacy_g2g.ResumableLogger.v1`` for ``[training.logger]``.

    The logger saves the state of training after each evaluation. When the same training starts again, on
    this machine or another, it goes on from there. Losses and scores are those of a training without a stop.
    Delete the folder when training is done.

    path: Folder of the state; null saves none.
    progress_bar: Whether to show a progress bar of the steps until the next evaluation.
    logger: Logger that shows the scores; null for the table of ``spacy.ConsoleLogger.v1``.
    Raises ValueError, when training starts, if the folder has the state of a training with another config. At
        the step where training goes on, it raises ValueError if the steps before it read other words.
    """
    shown = logger or console_logger(progress_bar=progress_bar)

    def setup(nlp: Language, *streams: IO[str]) -> Any:
        log_step, finalize = shown(nlp, *streams)
        if path is None:
            return log_step, finalize
        from .training_state import TrainingState  # it imports torch

        state = TrainingState(nlp, Path(path))
        return lambda info: log_step(state.after_step(info)), finalize

    return setup
