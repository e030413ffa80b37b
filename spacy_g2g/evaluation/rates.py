"""Rates between 0 and 1 that are None if their denominator is 0."""


def ratio(part: int, *, of: int) -> float | None:
    """Return part / of, or None if ``of`` is 0."""
    return part / of if of else None


def f1_score(*, precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean of precision and recall; 0 if either is 0 or None, None if both are None."""
    if precision is None and recall is None:
        return None
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def error_reduction(*, before: float | None, after: float | None) -> float | None:
    """Return the relative error reduction (after - before) / (1 - before) of scores between 0 and 1.

    It is 1 if no error is left and negative if errors were added. It is None if there were no errors before,
    or if a score is None.
    """
    if before is None or after is None or before == 1:
        return None
    return (after - before) / (1 - before)


def percent(rate: float | None) -> str:
    """Return a rate in percent, "-" for None."""
    return "-" if rate is None else f"{100 * rate:.2f}"


def signed_percent(rate: float | None) -> str:
    """Return a difference in percent with its sign, "-" for None."""
    return "-" if rate is None else f"{100 * rate:+.2f}"
