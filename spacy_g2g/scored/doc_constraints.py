"""Constraints on the trees of a Doc, as users state them: by indices of tokens, as in spaCy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any

from spacy.tokens import Doc

from ..data.segmentation import Segmentation
from ..data.token_check import TOKENS, fits, new_places, warn_of_other_tokens, with_tokens
from ..errors import Errors
from ..trees.constraints import Constraint, Kind, find_conflict

#: Extension attribute of Docs for the constraints on their trees.
CONSTRAINTS = "g2g_constraints"
#: Kinds of constraints, by the keys of that attribute.
KINDS: dict[str, Kind] = {
    "heads": "head",
    "not_heads": "not head",
    "deps": "label",
    "not_deps": "not label",
    "subtrees": "subtree",
}
#: Maximum number of characters of a value in an error.
SHOWN = 80


def constrain(
    doc: Doc,
    *,
    heads: Mapping[int, int] | None = None,
    deps: Mapping[int, str] | None = None,
    not_heads: Mapping[int, Iterable[int]] | None = None,
    not_deps: Mapping[int, Iterable[str]] | None = None,
    subtrees: Iterable[Iterable[int]] | None = None,
) -> None:
    """Set the constraints on the next parse of a Doc, in place of all earlier ones.

    Tokens are numbers from 0. A root is its own head. The constraints go to ``doc._.g2g_constraints``, a
    dict of lists that ``Doc.to_bytes`` and ``DocBin`` keep. They follow their tokens when others are merged
    or split. If its token is gone, a constraint is skipped with a warning.

    doc: The Doc.
    heads: Head of some tokens.
    deps: Label of some tokens.
    not_heads: Heads that a token may not have.
    not_deps: Labels that a token may not have.
    subtrees: Groups of tokens, each of which must be one token and all its descendants.
    Raises ValueError for a number that is not a token of the Doc, or is white space.

    >>> constrain(doc, heads={0: 2}, deps={2: "root"})
    >>> doc._.g2g_constraints["heads"]
    [[0, 2]]
    >>> constrain(doc)  # removes all constraints
    """
    Doc.set_extension(CONSTRAINTS, default=None, force=True)
    constraints: dict[str, list[list[Any]]] = {
        "heads": [*map(list, (heads or {}).items())],
        "deps": [*map(list, (deps or {}).items())],
        "not_heads": _pairs(not_heads or {}),
        "not_deps": _pairs(not_deps or {}),
        "subtrees": [*map(list, subtrees or ())],
    }
    for kind, tokens, _ in _items(constraints):
        if not tokens or any(not 0 <= token < len(doc) or doc[token].is_space for token in tokens):
            raise _off_words(doc, kind, tokens)
    doc._.set(CONSTRAINTS, with_tokens(doc, constraints) if any(constraints.values()) else None)


def _pairs(excluded: Mapping[int, Iterable[Any]]) -> list[list[Any]]:
    """Return a pair of each token and each value that it may not have."""
    pairs = []
    for token, values in excluded.items():
        pairs += [[token, value] for value in values]
    return pairs


def read_constraints(
    docs: Sequence[Doc], segmentation: Segmentation, labels: Sequence[str]
) -> list[tuple[Constraint, ...]]:
    """Return the constraints of each sentence that has words.

    docs: The Docs, with or without ``doc._.g2g_constraints``.
    segmentation: Where their sentences are.
    labels: Labels of the parser.
    Raises ValueError if the tokens of a constraint are not words of one sentence, for an unknown label, and
        if no tree meets all constraints of a sentence.
    """
    records = [(Doc.has_extension(CONSTRAINTS) and doc._.get(CONSTRAINTS)) or {} for doc in docs]
    if not any(records):
        return [()] * int((segmentation.n_words > 0).sum())
    words: list[list[list[int]]] = [[] for _ in docs]
    for place, tokens in segmentation.word_places():
        words[place].append(tokens)
    constraints: list[tuple[Constraint, ...]] = []
    for doc, record, sentences in zip(docs, records, words, strict=True):
        constraints += _read_doc(doc, record, sentences, labels)
    return constraints


def _read_doc(
    doc: Doc, record: Any, sentences: Sequence[list[int]], labels: Sequence[str]
) -> Iterator[tuple[Constraint, ...]]:
    """Yield the constraints of each sentence of a Doc; see ``read_constraints``."""
    places: dict[int, tuple[int, int]] = {}
    for i, words in enumerate(sentences):
        places |= {token: (i, n) for n, token in enumerate(words, start=1)}
    by_sentence: list[list[Constraint]] = [[] for _ in sentences]
    present = None if fits(doc, record) else new_places(doc, record)
    for kind, tokens, label in _items(record):
        if present is not None:
            if not present.keys() >= {*tokens}:
                warn_of_other_tokens(doc, f"doc._.{CONSTRAINTS}")
                continue
            tokens = [present[token] for token in tokens]
        in_sentences = {places.get(token, (-1, 0))[0] for token in tokens}
        if len(in_sentences) != 1 or -1 in in_sentences:
            raise _off_words(doc, kind, tokens)
        numbers, value = [places[token][1] for token in tokens], 0
        if label is not None:
            if label not in labels:
                values = {"label": label, "token": tokens[0], "text": doc[:SHOWN].text[:SHOWN]}
                raise ValueError(Errors.E515.format(**values, labels=list(labels)))
            value = labels.index(label)
        elif kind != "subtree" and tokens[0] != tokens[1]:
            value = numbers[1]
        members = sorted(numbers) if kind == "subtree" else numbers[:1]
        by_sentence[in_sentences.pop()].append(Constraint(kind, tuple(members), value))
    for words, constraints in zip(sentences, by_sentence, strict=True):
        if constraints and (conflict := find_conflict(tuple(constraints), len(words), n_labels=len(labels))):
            texts = [_describe(constraint, doc, words, labels) for constraint in conflict]
            text = doc[words[0] : words[-1] + 1].text[:SHOWN]
            raise ValueError(Errors.E516.format(text=text, constraints="; ".join(texts)))
        yield tuple(constraints)


def _items(record: Any) -> Iterator[tuple[Kind, list[int], str | None]]:
    """Yield the kind of each constraint, its tokens, and its label if it has one.

    Raises ValueError for a record that ``constrain`` can't have made.
    """
    part = record
    try:
        for key, values in record.items():
            if key == TOKENS:
                continue
            part = {key: values}
            kind, has_label = KINDS[key], "deps" in key
            if not isinstance(values, list | tuple):
                raise TypeError
            for tokens in values:
                *numbers, label = tokens if has_label else (*tokens, None)
                if (key != "subtrees" and len(tokens) != 2) or isinstance(label, str) != has_label:
                    raise TypeError
                yield kind, [index(number) for number in numbers], label
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(Errors.E513.format(found=repr(part)[:SHOWN])) from error


def _off_words(doc: Doc, kind: Kind, tokens: Sequence[int]) -> ValueError:
    text = doc[:SHOWN].text[:SHOWN]
    return ValueError(Errors.E514.format(tokens=tokens, kind=kind, text=text, n=len(doc)))


def _describe(constraint: Constraint, doc: Doc, words: Sequence[int], labels: Sequence[str]) -> str:
    """Return a constraint on words of a sentence as a text, with the numbers of tokens in their Doc."""

    def name(word: int) -> str:
        return f"{words[word - 1]} {doc[words[word - 1]].text!r}"

    kind, members, value = constraint
    if kind == "subtree":
        return f"the tokens {', '.join(map(name, members))} are one subtree"
    subject = f"token {name(members[0])} " + ("{} not" if kind.startswith("not") else "{}")
    if "label" in kind:
        return subject.format("has") + f" the label {labels[value]!r}"
    return subject.format("has") + f" the head {name(value)}" if value else subject.format("is") + " the root"
