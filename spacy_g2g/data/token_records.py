"""Records on Docs that refer to tokens by index, and whether they still fit the tokens.

spaCy does not report that tokens were merged or split. So a record has the key "tokens": a number for the
place and the text of each token that it was made for. A record that a user sets has no such key and is
accepted as it is.
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
    """Return a copy of a record with the tokens of its Doc."""
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
    """Return the present index, by the old one, of each token of a record that the Doc still has."""
    present = {token: i for i, token in enumerate(_tokens(doc))}
    return {i: present[token] for i, token in enumerate(record[TOKENS]) if token in present}


def read_record(doc: Doc, name: str) -> Any:
    """Return an extension attribute of a Doc. If it was made for other tokens, it is removed with a warning.

    The attribute is a record, or its record is in ``doc.user_data`` under the same name.
    """
    value = doc._.get(name) if Doc.has_extension(name) else None
    if value is None or fits(doc, value if isinstance(value, dict) else doc.user_data.get(name, {})):
        return value
    doc._.set(name, None)
    return warn_of_other_tokens(doc, f"doc._.{name}")


def warn_of_other_tokens(doc: Doc, name: str) -> None:
    """Warn that an extension attribute of a Doc was made for other tokens."""
    warnings.warn(Warnings.W560.format(name=name, text=doc.text[:40]), stacklevel=3)


def _tokens(doc: Doc) -> list[int]:
    orths, starts = np.asarray(doc.to_array(["ORTH", "IDX"])).reshape(-1, 2).T
    tokens: list[int] = (orths ^ starts).tolist()
    return tokens
