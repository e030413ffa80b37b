"""Lemmas of English words: those of simplemma, and for pronouns the concepts that AMRs use."""

from __future__ import annotations

import re
from functools import lru_cache

from ...errors import Errors

_PRONOUNS = (
    "i me my mine myself|you your yours yourself yourselves|he him his himself|she her hers herself|"
    "it its itself|we us our ours ourselves|they them their theirs themselves"
)
PRONOUNS: dict[str, str] = {}
for _forms in _PRONOUNS.split("|"):
    PRONOUNS |= dict.fromkeys(_forms.split(), _forms.split()[0])

_SENSE = re.compile(r"-[0-9]{2,}$")


def stem(label: str) -> str:
    """Return a concept without its sense number, or a string without its quotes."""
    return label.strip('"') if label.startswith('"') else _SENSE.sub("", label)


@lru_cache(maxsize=100_000)
def find_lemma(form: str) -> str:
    """Return the lemma of a word, in lower case: "want" for "Wanted", "i" for "my".

    Raises ImportError if simplemma is not installed.
    """
    lower = form.lower()
    if lower in PRONOUNS or not lower:
        return PRONOUNS.get(lower, lower)
    try:
        from simplemma import lemmatize
    except ImportError as error:
        raise ImportError(Errors.E1010.format(error=error)) from error
    return lemmatize(lower, lang="en").lower()
