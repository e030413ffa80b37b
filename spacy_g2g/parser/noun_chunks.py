"""Noun chunks from trees with the labels of Universal Dependencies.

spaCy's own rules expect other labels: all of them miss nouns that are roots, some miss objects and obliques,
and those for Turkish and Catalan raise errors on trees without their labels.
"""

from collections.abc import Collection, Iterator
from typing import Any

from spacy.symbols import NOUN, PRON, PROPN
from spacy.tokens import Doc, Span, Token

from ..errors import Errors
from ..formats.graph import universal

#: Labels without subtypes that Universal Dependencies has, but not spaCy's English and German models.
UD_LABELS = frozenset({"obj", "obl"})
_NOUNS = frozenset({NOUN, PRON, PROPN})
#: Relations of nouns that do not head a chunk: parts of names, compounds, fixed phrases, and function words.
_NO_HEAD = (
    *("advmod", "amod", "aux", "case", "cc", "clf", "compound", "cop", "det", "discourse", "expl"),
    *("fixed", "flat", "goeswith", "mark", "nummod", "punct", "reparandum"),
)
#: Relations of dependents inside the chunk, before the noun and after it.
_BEFORE = ("advmod", "amod", "clf", "compound", "det", "flat", "goeswith", "nmod", "nummod")
_AFTER = ("compound", "fixed", "flat", "goeswith")
#: Those that stay in the chunk after the noun if all words below them have relations of the second row.
_LIGHT_AFTER = ("amod", "clf", "det", "nummod")
_LIGHT = (*_LIGHT_AFTER, "advmod", "cc", "conj", "punct")


def has_ud_labels(labels: Collection[str]) -> bool:
    """Return whether labels are those of Universal Dependencies."""
    return any(universal(label) in UD_LABELS for label in labels)


def use_ud_noun_chunks(target: Any) -> None:
    """Let a Doc or a vocabulary find noun chunks by Universal Dependencies, in any language.

    Rules that do not come from spaCy stay.
    """
    name = "noun_chunks_iterator" if isinstance(target, Doc) else "get_noun_chunks"
    present = getattr(target, name)
    if present is None or present.__module__.startswith("spacy.lang."):
        setattr(target, name, ud_noun_chunks)


def ud_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and label of each noun chunk, as spaCy's rules do.

    A chunk is a noun, proper noun or pronoun with its determiners, adjectives, numbers, possessors, and parts
    of names and compounds, on either side of it. It excludes prepositions, clauses and coordinated phrases. A
    chunk inside another one does not count.

    doclike: Doc or Span with heads, labels and parts of speech.
    Raises ValueError without them.
    """
    doc = doclike.doc
    for name in ("DEP", "POS"):
        if not doc.has_annotation(name):
            raise ValueError(Errors.E823.format(attr=name))
    label = doc.vocab.strings.add("NP")
    end = 0
    for start, stop in sorted(map(_bounds, filter(_is_head, doclike)), key=lambda span: (span[0], -span[1])):
        if start >= end:
            yield start, stop, label
            end = stop


def _is_head(token: Token) -> bool:
    is_noun = token.pos in _NOUNS and not token.is_space
    return is_noun and token.dep != 0 and universal(token.dep_) not in _NO_HEAD


def _bounds(noun: Token) -> tuple[int, int]:
    """Return the first token of a noun's chunk, and the token after its last."""
    doc, start, end = noun.doc, noun.i, noun.i + 1
    edge = start  # end of the next dependent, but for punctuation and white space in between
    for child in reversed([left for left in noun.lefts if not left.is_space]):
        relation, after = universal(child.dep_), child.right_edge.i + 1
        if after > edge or not _is_blank(doc[after:edge]) or relation not in (*_BEFORE, "punct"):
            break
        edge = child.left_edge.i
        # A phrase with its own preposition is another chunk. But a possessor may end in a particle.
        if relation == "nmod" and any(universal(left.dep_) == "case" for left in child.lefts):
            break
        if relation != "punct":
            start = edge
    for child in (right for right in noun.rights if not right.is_space):
        if not _is_blank(doc[end : child.left_edge.i]) or not _belongs_after(child):
            break
        end = child.right_edge.i + 1
    while doc[start].is_space:
        start += 1
    while doc[end - 1].is_space:
        end -= 1
    return start, end


def _belongs_after(child: Token) -> bool:
    """Return whether a dependent right after a noun belongs to the noun's chunk."""
    relation = universal(child.dep_)
    if relation in _LIGHT_AFTER:
        below = (universal(token.dep_) for token in child.subtree if not token.is_space and token != child)
        return all(other in _LIGHT for other in below)
    return relation in _AFTER and child.dep_ != "compound:prt"


def _is_blank(span: Span) -> bool:
    return all(token.is_space for token in span)
