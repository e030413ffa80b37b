"""What the trees of a Doc must have, as users state it: by tokens, which count as spaCy counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any

from spacy.tokens import Doc

from ..errors import Errors
from ..parsing.conflicts import find_conflict
from ..parsing.constraints import Constraint, Kind
from ..parsing.rules import RULES, rule_constraint, rule_name

#: Extension attribute of Docs for what their trees must have.
CONSTRAINTS = "g2g_constraints"
KEYS = ("heads", "deps", "not_heads", "not_deps", "subtrees", "rules")
#: How many characters of a value an error shows.
SHOWN = 80


def constrain(
    doc: Doc,
    *,
    heads: Mapping[int, int] | None = None,
    deps: Mapping[int, str] | None = None,
    not_heads: Mapping[int, Iterable[int]] | None = None,
    not_deps: Mapping[int, Iterable[str]] | None = None,
    subtrees: Iterable[Iterable[int]] | None = None,
    rules: Iterable[str] | None = None,
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
    rules: Names of rules of Universal Dependencies that the trees must follow; see ``parsing.rules``.
    """
    if not Doc.has_extension(CONSTRAINTS):
        Doc.set_extension(CONSTRAINTS, default=None)
    found = {
        "heads": [list(item) for item in (heads or {}).items()],
        "deps": [list(item) for item in (deps or {}).items()],
        "not_heads": [[token, head] for token, others in (not_heads or {}).items() for head in others],
        "not_deps": [[token, dep] for token, others in (not_deps or {}).items() for dep in others],
        "subtrees": [list(tokens) for tokens in subtrees or ()],
        "rules": list(rules or ()),
    }
    doc._.set(CONSTRAINTS, found if any(found.values()) else None)


def read_constraints(
    doc: Doc,
    sentences: Sequence[Sequence[int]],
    labels: Sequence[str],
    *,
    projective: bool = False,
    rules: Sequence[str] = (),
) -> list[tuple[Constraint, ...]]:
    """Return the constraints of each sentence of a Doc.

    doc: The Doc, with or without ``doc._.g2g_constraints``.
    sentences: Tokens of each sentence that has words, without white space.
    labels: Labels of the parser.
    projective: Whether the parser can build projective trees alone.
    rules: Names of further rules that the trees must follow.
    Raises ValueError if a constraint is on tokens that are not words of one sentence, or on an unknown label,
        and if constraints can't hold together.
    """
    given: dict[str, Any] | None = doc._.get(CONSTRAINTS) if Doc.has_extension(CONSTRAINTS) else None
    if not given and not rules:
        return [()] * len(sentences)
    given = given or {}
    if not isinstance(given, dict) or set(given) - set(KEYS):
        raise ValueError(Errors.E513.format(found=repr(given)[:SHOWN], keys=", ".join(KEYS)))
    names = dict.fromkeys([*rules, *given.get("rules", ())])
    check_rules(names)
    places = {token: (i, n) for i, words in enumerate(sentences) for n, token in enumerate(words, start=1)}
    found: list[list[Constraint]] = [[] for _ in sentences]
    text = doc[:SHOWN].text[:SHOWN]
    try:
        demands = list(_demands(given))
    except (TypeError, ValueError) as error:
        raise ValueError(Errors.E513.format(found=repr(given)[:SHOWN], keys=", ".join(KEYS))) from error
    for kind, tokens, label in demands:
        of_words = [places.get(token, (-1, 0)) for token in tokens]
        numbers = [number for _, number in of_words]
        sentence = of_words[0][0] if of_words else -1
        if sentence < 0 or any(other != sentence for other, _ in of_words):
            raise ValueError(Errors.E514.format(tokens=tokens, kind=kind, text=text, n=len(doc)))
        if kind == "subtree":
            found[sentence].append(Constraint(kind, tuple(sorted(numbers))))
        elif label is None:
            head = 0 if tokens[0] == tokens[1] else numbers[1]
            found[sentence].append(Constraint(kind, (numbers[0],), head))
        elif label not in labels:
            raise ValueError(Errors.E515.format(label=label, token=tokens[0], text=text, labels=list(labels)))
        else:
            found[sentence].append(Constraint(kind, (numbers[0],), labels.index(label)))
    for words, constraints in zip(sentences, found, strict=True):
        is_asked = bool(constraints)
        constraints += [rule_constraint(name, labels) for name in names]
        if not is_asked:
            continue  # some tree follows all rules
        if conflict := find_conflict(constraints, len(words), len(labels), projective):
            texts = [describe(constraint, [doc[i].text for i in words], labels) for constraint in conflict]
            trees = "projective tree (swap = false)" if projective else "tree"
            text = doc[words[0] : words[-1] + 1].text[:SHOWN]
            raise ValueError(Errors.E516.format(trees=trees, text=text, constraints="; ".join(texts)))
    return [tuple(constraints) for constraints in found]


def check_rules(names: Iterable[str]) -> None:
    """Raise ValueError for a name that is not the name of a rule."""
    if unknown := sorted(set(names) - set(RULES)):
        raise ValueError(Errors.E517.format(unknown=unknown, names=", ".join(RULES)))


def _demands(given: Mapping[str, Any]) -> Iterator[tuple[Kind, list[int], str | None]]:
    """Yield the kind of each demand, its tokens, and its label if it has one.

    Raises TypeError or ValueError for what ``constrain`` would not have set.
    """
    of_arcs: tuple[tuple[Kind, str], ...] = (("head", "heads"), ("not head", "not_heads"))
    of_labels: tuple[tuple[Kind, str], ...] = (("label", "deps"), ("not label", "not_deps"))
    for kind, key in of_arcs:
        for token, head in given.get(key, ()):
            yield kind, [index(token), index(head)], None
    for kind, key in of_labels:
        for token, label in given.get(key, ()):
            yield kind, [index(token)], label
    for tokens in given.get("subtrees", ()):
        yield "subtree", [index(token) for token in tokens], None


def describe(constraint: Constraint, words: Sequence[str], labels: Sequence[str]) -> str:
    """Return a constraint in words, which count from 1 in their sentence.

    words: Words of the sentence.
    labels: Labels of the parser.
    """
    kind, members, value, *_ = constraint
    if kind == "rule":
        return f"the rule {rule_name(constraint)}"
    names = [f"{word} {words[word - 1]!r}" for word in members]
    if kind == "subtree":
        return f"the words {', '.join(names)} are one subtree"
    if "label" in kind:
        target = f"the label {labels[value]!r}"
    else:
        target = f"the head {value} {words[value - 1]!r}" if value else "the head 0 (ROOT)"
    return f"word {names[0]} has {'not ' if kind.startswith('not') else ''}{target}"
