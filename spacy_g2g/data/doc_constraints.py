"""What the trees of a Doc must have, as users state it: by tokens, which count as spaCy counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any

from spacy.tokens import Doc, Token

from ..errors import Errors
from ..trees.constraint_conflicts import find_conflict
from ..trees.constraints import Constraint, Kind

#: Extension attribute of Docs for what their trees must have.
CONSTRAINTS = "g2g_constraints"
#: Kinds of demands on tokens, by their keys.
KINDS: dict[str, Kind] = {
    "heads": "head",
    "not_heads": "not head",
    "deps": "label",
    "not_deps": "not label",
    "subtrees": "subtree",
}
#: How many characters of a value an error shows.
SHOWN = 80
#: The search is long, and each question about a parse needs what it has found.
_conflict = lru_cache(maxsize=64)(find_conflict)


def constrain(
    doc: Doc,
    *,
    heads: Mapping[int, int] | None = None,
    deps: Mapping[int, str] | None = None,
    not_heads: Mapping[int, Iterable[int]] | None = None,
    not_deps: Mapping[int, Iterable[str]] | None = None,
    subtrees: Iterable[Iterable[int]] | None = None,
) -> None:
    """Set what the next parse of a Doc must have, in place of all that was set before.

    Tokens are numbers from 0. A root is its own head. The demands go to ``doc._.g2g_constraints``, a dict of
    lists that ``Doc.to_bytes`` and ``DocBin`` keep.

    doc: The Doc.
    heads: Head of some tokens.
    deps: Label of some tokens.
    not_heads: Heads that a token may not have.
    not_deps: Labels that a token may not have.
    subtrees: Groups of tokens, each of which must be one token and all its descendants.
    Raises ValueError for what is no token's number or white space's.
    """
    Doc.set_extension(CONSTRAINTS, default=None, force=True)
    found = {
        "heads": [list(item) for item in (heads or {}).items()],
        "deps": [list(item) for item in (deps or {}).items()],
        "not_heads": [[token, head] for token, others in (not_heads or {}).items() for head in others],
        "not_deps": [[token, dep] for token, others in (not_deps or {}).items() for dep in others],
        "subtrees": [list(tokens) for tokens in subtrees or ()],
    }
    for kind, tokens, _ in _demands(found):
        if not tokens or any(not 0 <= token < len(doc) or doc[token].is_space for token in tokens):
            raise _off_words(doc, kind, tokens)
    doc._.set(CONSTRAINTS, found if any(found.values()) else None)


def read_constraints(
    doc: Doc, sentences: Sequence[Sequence[int]], labels: Sequence[str]
) -> list[tuple[Constraint, ...]]:
    """Return the constraints of each sentence of a Doc.

    doc: The Doc, with or without ``doc._.g2g_constraints``.
    sentences: Tokens of each sentence that has words, without white space.
    labels: Labels of the parser.
    Raises ValueError if a constraint is on tokens that are not words of one sentence, or on an unknown label,
        and if constraints can't hold together.
    """
    given: Any = (Doc.has_extension(CONSTRAINTS) and doc._.get(CONSTRAINTS)) or {}
    if not given:
        return [()] * len(sentences)
    places = {token: (i, n) for i, words in enumerate(sentences) for n, token in enumerate(words, start=1)}
    found: list[list[Constraint]] = [[] for _ in sentences]
    for kind, tokens, label in _demands(given):
        of_words = [places.get(token, (-1, 0)) for token in tokens]
        numbers = [number for _, number in of_words]
        sentence = of_words[0][0] if of_words else -1
        if sentence < 0 or any(other != sentence for other, _ in of_words):
            raise _off_words(doc, kind, tokens)
        if kind == "subtree":
            found[sentence].append(Constraint(kind, tuple(sorted(numbers))))
        elif label is None:
            head = 0 if tokens[0] == tokens[1] else numbers[1]
            found[sentence].append(Constraint(kind, (numbers[0],), head))
        elif label not in labels:
            text = doc[:SHOWN].text[:SHOWN]
            raise ValueError(Errors.E515.format(label=label, token=tokens[0], text=text, labels=list(labels)))
        else:
            found[sentence].append(Constraint(kind, (numbers[0],), labels.index(label)))
    for words, constraints in zip(sentences, found, strict=True):
        if constraints and (conflict := _conflict(tuple(constraints), len(words), len(labels))):
            texts = [describe(constraint, [doc[i] for i in words], labels) for constraint in conflict]
            text = doc[words[0] : words[-1] + 1].text[:SHOWN]
            raise ValueError(Errors.E516.format(text=text, constraints="; ".join(texts)))
    return [tuple(constraints) for constraints in found]


def _demands(given: Any) -> Iterator[tuple[Kind, list[int], str | None]]:
    """Yield the kind of each demand on tokens, its tokens, and its label if it has one.

    Raises ValueError for what ``constrain`` would not have set.
    """
    if not isinstance(given, dict):
        raise _malformed(given)
    for key, values in given.items():
        if key not in KINDS or not isinstance(values, list | tuple):
            raise _malformed({key: values})
        try:
            for tokens in values:
                *numbers, label = tokens if "deps" in key else (*tokens, None)
                if (key != "subtrees" and len(tokens) != 2) or isinstance(label, str) != ("deps" in key):
                    raise _malformed({key: values})
                yield KINDS[key], [index(number) for number in numbers], label
        except (TypeError, ValueError) as error:
            raise _malformed({key: values}) from error


def _malformed(found: Any) -> ValueError:
    return ValueError(Errors.E513.format(found=repr(found)[:SHOWN]))


def _off_words(doc: Doc, kind: Kind, tokens: Sequence[int]) -> ValueError:
    text = doc[:SHOWN].text[:SHOWN]
    return ValueError(Errors.E514.format(tokens=tokens, kind=kind, text=text, n=len(doc)))


def describe(constraint: Constraint, words: Sequence[Token], labels: Sequence[str]) -> str:
    """Return a constraint in words, with the numbers of tokens in their Doc.

    words: Words of the sentence.
    labels: Labels of the parser.
    """
    kind, members, value = constraint
    names = [f"{words[word - 1].i} {words[word - 1].text!r}" for word in members]
    if kind == "subtree":
        return f"the tokens {', '.join(names)} are one subtree"
    is_not = "not " if kind.startswith("not") else ""
    if "label" in kind:
        return f"token {names[0]} has {is_not}the label {labels[value]!r}"
    if not value:
        return f"token {names[0]} is {is_not}the root"
    return f"token {names[0]} has {is_not}the head {words[value - 1].i} {words[value - 1].text!r}"
