"""Enhanced graphs, in which a word may have several heads: in the column DEPS of CoNLL-U, and on Docs.

Empty nodes are collapsed, as in the tasks of IWPT 2020 and 2021: if word 1 depends as nsubj on an empty node,
and the empty node as conj on word 2, then word 1 depends on word 2 as ``conj>nsubj``.

On a Doc, a graph has a list for each token: pairs of a head, as an index in the Doc, and a label. A root is
its own head, as everywhere in spaCy. White space has no pair. ``Doc.to_bytes`` and ``DocBin`` keep a graph
that was set. If the tokens of the Doc change, the graph is removed with a warning.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy.tokens import Doc, Token

from ..errors import Errors
from ..formats.conllu import ConlluSentence
from ..formats.graph import ROOT, Arc
from ..formats.rows import COLUMNS, N_COLUMNS, split_row
from .source import own_sentences
from .token_check import own_value, with_tokens

#: Extension attribute of Docs and tokens, and key of ``doc.user_data``.
ENHANCED = "g2g_enhanced"
#: Joins the labels of the arcs to and from an empty node.
STEP = ">"


def read_deps(sentence: ConlluSentence) -> list[list[Arc]]:
    """Return heads and labels of each word in the enhanced graph. Raises ValueError if a cell is broken."""
    if all(word.deps == "_" for word in sentence.words):
        return [[] for _ in sentence.words]
    rows = map(split_row, sentence.rows)
    cells = {row[0]: row[COLUMNS["deps"]] for row in rows if len(row) == N_COLUMNS and "." in row[0]}
    cells |= {str(number): word.deps for number, word in enumerate(sentence.words, start=1)}
    arcs: dict[str, list[tuple[str, str]]] = {}
    for id_, cell in cells.items():
        arcs[id_] = []
        for item in cell.split("|") if cell != "_" else ():
            head, _, dep = item.partition(":")
            if not dep or (head != "0" and head not in cells):
                where = sentence.location(max(int(id_.partition(".")[0]), 1) - 1)
                raise ValueError(Errors.E311.format(where=where, value=cell[:80]))
            arcs[id_].append((head, dep))
    return [list(_between_words(str(number), arcs)) for number in range(1, len(sentence.words) + 1)]


def deps_cell(arcs: Iterable[Arc]) -> str:
    """Return the cell DEPS of a word, sorted by heads, from its heads and labels.

    >>> deps_cell([(4, "nsubj:xsubj"), (2, "nsubj")])
    '2:nsubj|4:nsubj:xsubj'
    """
    return "|".join(f"{head}:{dep}" for head, dep in sorted(arcs)) or "_"


def _between_words(
    node: str, arcs: dict[str, list[tuple[str, str]]], path: str = "", seen: tuple[str, ...] = ()
) -> Iterator[Arc]:
    """Yield the arcs to words that lead from a node through empty nodes, each of which is passed once."""
    for head, dep in arcs[node]:
        if "." not in head:
            yield int(head), dep + path
        elif head not in seen:
            yield from _between_words(head, arcs, STEP + dep + path, (*seen, head))


def set_enhanced(doc: Doc, arcs: Sequence[Sequence[Arc]] | None) -> None:
    """Set the enhanced graph of a Doc, or remove it. Raises ValueError if it does not fit the Doc."""
    doc.user_data.pop(ENHANCED, None)
    if arcs is not None:
        doc.user_data[ENHANCED] = with_tokens(doc, {"arcs": _check_arcs(arcs, doc, range(len(doc)))})


def get_enhanced(doc: Doc) -> list[list[Arc]] | None:
    """Return the enhanced graph that was set on a Doc. Without one, return the graph of its CoNLL-U.

    Raises ValueError if the graph does not fit the Doc, or if DEPS can't be read.
    """
    if (own := own_enhanced(doc)) is not None:
        return own
    graph: list[list[Arc]] = []
    for sentence in own_sentences(doc) or ():
        start = len(graph)
        for place, arcs in enumerate(read_deps(sentence), start=start):
            graph.append([(start + head - 1 if head else place, dep) for head, dep in arcs])
    return graph if any(graph) else None


def own_enhanced(doc: Doc) -> list[list[Arc]] | None:
    """Return the enhanced graph that was set on a Doc, or None. Raises ValueError if it does not fit."""
    return own_arcs(doc, range(len(doc)))


def own_arcs(doc: Doc, places: Sequence[int]) -> list[list[Arc]] | None:
    """Return the arcs of some tokens in the graph that was set on a Doc, or None.

    places: Indices of the tokens. Arcs of other tokens are not checked.
    Raises ValueError if the graph does not fit the Doc.
    """
    value = own_value(doc, ENHANCED, places)
    graph = value.get("arcs") if isinstance(value, dict) else value
    return None if graph is None else _check_arcs(graph, doc, places)


def arcs_of(words: Sequence[Token]) -> list[list[Arc]]:
    """Return the arcs of a sentence in the graph that was set on its Doc; empty lists without a graph.

    words: Words of the sentence. The arcs count them from 1.
    Raises ValueError if a head is not among them.
    """
    doc, ids = words[0].doc, {word.i: number for number, word in enumerate(words, start=1)}
    graph: list[list[Arc]] = [[] for _ in words]
    own = own_arcs(doc, [*ids])
    for word, arcs, numbered in zip(words, own, graph, strict=True) if own else ():
        for head, dep in arcs:
            if head not in ids:
                raise ValueError(Errors.E505.format(word=word.text, head=doc[head].text, index=word.i))
            numbered.append((ids[head] if head != word.i else ROOT, dep))
    return graph


def _check_arcs(graph: Any, doc: Doc, places: Sequence[int]) -> list[list[Arc]]:
    """Return the arcs of some tokens. Raises ValueError if the graph does not fit the Doc."""
    tokens, labels = range(len(doc)), set[str]()
    arcs: list[list[Arc]] = []
    try:
        for place in places:
            arcs.append([(tokens[head], str(dep)) for head, dep in graph[place]])
            labels.update(dep for _, dep in arcs[-1])
        is_right = len(graph) == len(doc) and all(dep.split() == [dep] and "|" not in dep for dep in labels)
    except (TypeError, ValueError, IndexError, KeyError):
        is_right = False
    if not is_right:
        raise ValueError(Errors.E522.format(found=repr(graph)[:80], n=len(doc)))
    return arcs


def _enhanced_arcs(token: Token) -> list[Arc]:
    if own := own_arcs(token.doc, [token.i]):
        return own[0]
    arcs = get_enhanced(token.doc)
    return arcs[token.i] if arcs else []


Doc.set_extension(ENHANCED, getter=get_enhanced, setter=set_enhanced, force=True)
Token.set_extension(ENHANCED, getter=_enhanced_arcs, force=True)
