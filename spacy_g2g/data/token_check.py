"""Check whether values on Docs that refer to tokens by index still fit the tokens.

spaCy does not report that tokens were merged or split. So such a value is a dict with the key "tokens": a
number for the place and the text of each token that it was made for. A value that a user sets has no such
key and is accepted as it is.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Warnings

#: Key for the tokens that a value was made for.
TOKENS = "tokens"


def with_tokens(doc: Doc, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a value with the tokens of its Doc."""
    return {**value, TOKENS: _tokens(doc)}


def fits(doc: Doc, value: Any, places: Sequence[int] | None = None) -> bool:
    """Return whether a value was made for the tokens that a Doc has at some places, or for all of them."""
    tokens = value.get(TOKENS) if isinstance(value, dict) else None
    if tokens is None or len(tokens) != len(doc):
        return tokens is None
    if places is None or len(places) == len(doc):
        return [*tokens] == _tokens(doc)
    return all(tokens[i] == doc[i].orth ^ doc[i].idx for i in places)


def new_places(doc: Doc, value: Mapping[str, Any]) -> dict[int, int]:
    """Map the old index of each token of a value to the present one, without tokens that the Doc has lost."""
    present = {token: i for i, token in enumerate(_tokens(doc))}
    return {i: present[token] for i, token in enumerate(value[TOKENS]) if token in present}


def read_checked(doc: Doc, name: str) -> Any:
    """Return an extension attribute of a Doc. Removes it with a warning if it was made for other tokens.

    The tokens are in the attribute, or in the entry of the same name in ``doc.user_data``.
    """
    value = doc._.get(name) if Doc.has_extension(name) else None
    if value is None or fits(doc, value if isinstance(value, dict) else doc.user_data.get(name, {})):
        return value
    doc._.set(name, None)
    return warn_of_other_tokens(doc, f"doc._.{name}")


def own_value(doc: Doc, key: str, places: Sequence[int] | None = None) -> Any:
    """Return a value of ``doc.user_data``. Removes it with a warning if it was made for other tokens.

    key: Its key, which is the name of the extension attribute that has it.
    places: Indices of the tokens that count; None for all.
    """
    value = doc.user_data.get(key)
    if fits(doc, value, places):
        return value
    del doc.user_data[key]
    return warn_of_other_tokens(doc, f"doc._.{key}")


def warn_of_other_tokens(doc: Doc, name: str) -> None:
    """Warn that an extension attribute of a Doc was made for other tokens."""
    warnings.warn(Warnings.W560.format(name=name, text=doc.text[:40]), stacklevel=3)


def _tokens(doc: Doc) -> list[int]:
    orths, starts = np.asarray(doc.to_array(["ORTH", "IDX"])).reshape(-1, 2).T
    tokens: list[int] = (orths ^ starts).tolist()
    return tokens
