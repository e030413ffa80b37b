"""What Docs keep by the indices of their tokens, beside the tokens that it was made for.

spaCy tells nobody of tokens that are merged or split. So a record of ours has the key "tokens": a number for
the place and the text of each token. A record of a user has none and is taken as it is.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Warnings

#: Key of a record for the tokens that it was made for.
TOKENS = "tokens"


def with_tokens(doc: Doc, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the tokens of its Doc."""
    return {**record, TOKENS: _tokens(doc)}


def fits(doc: Doc, record: Any, places: Sequence[int] | None = None) -> bool:
    """Return whether the tokens at some places, or all of them, are those that a record was made for."""
    tokens = record.get(TOKENS) if isinstance(record, dict) else None
    if tokens is None or len(tokens) != len(doc):
        return tokens is None
    if places is None:
        return [*tokens] == _tokens(doc)
    return all(tokens[i] == doc[i].orth ^ doc[i].idx for i in places)


def new_places(doc: Doc, record: Mapping[str, Any]) -> dict[int, int]:
    """Return the present index of each token that a record was made for and that the Doc still has."""
    present = {token: i for i, token in enumerate(_tokens(doc))}
    return {i: present[token] for i, token in enumerate(record[TOKENS]) if token in present}


def read_kept(doc: Doc, name: str) -> Any:
    """Return an extension attribute of a Doc. One for other tokens is removed, with a warning.

    It is a record, or the record is beside it in ``doc.user_data``, by the same name.
    """
    found = doc._.get(name) if Doc.has_extension(name) else None
    if found is None or fits(doc, found if isinstance(found, dict) else doc.user_data.get(name, {})):
        return found
    doc._.set(name, None)
    return warn_of_other_tokens(doc, f"doc._.{name}")


def warn_of_other_tokens(doc: Doc, name: str) -> None:
    """Warn that an extension attribute of a Doc was made for other tokens."""
    warnings.warn(Warnings.W560.format(name=name, text=doc.text[:40]), stacklevel=3)


def _tokens(doc: Doc) -> list[int]:
    orths, starts = np.asarray(doc.to_array(["ORTH", "IDX"])).reshape(-1, 2).T
    tokens: list[int] = (orths ^ starts).tolist()
    return tokens
