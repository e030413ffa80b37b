"""Write parsed Docs to files: CoNLL-U with one or several trees, JSON lines, spaCy's binary format."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin

from ..data.doc_record import own_columns, own_record
from ..data.docs import doc_to_sentences
from ..data.enhanced import set_enhanced
from ..data.plugins import plugins
from ..errors import Errors
from ..formats.conllu import ConlluSentence, write_conllu
from ..parser.g2g_parser import G2GParser
from ..scored.score_record import SCORES
from ..scored.scored_trees import RankedTree

#: Parsed Doc, with further keys for the output.
Parsed = tuple[Doc, dict[str, Any]]
#: Yields the text of parsed Docs.
ToText = Callable[[Iterable[Parsed]], Iterator[str]]


def write_spacy(parsed: Iterable[Parsed], path: Path) -> int:
    """Write Docs to a DocBin, and return their number. Raises ValueError for keys that it can't hold."""
    doc_bin = DocBin(store_user_data=True)
    for number, (doc, record) in enumerate(parsed, start=1):
        if record:
            doc.user_data["jsonl"] = record
        try:
            doc_bin.add(doc)
        except OverflowError as error:
            raise ValueError(Errors.E926.format(number=number, error=error)) from error
    doc_bin.to_disk(path)
    return len(doc_bin)


def write_as_text(parsed: Iterable[Parsed], path: Path, to_text: ToText) -> int:
    """Write each Doc as soon as it is parsed, and return their number."""
    n_docs = 0

    def counted() -> Iterator[Parsed]:
        nonlocal n_docs
        for item in parsed:
            n_docs += 1
            yield item

    with path.open("w", encoding="utf8", newline="") as file_:
        file_.writelines(to_text(counted()))
    return n_docs


def to_conllu(parsed: Iterable[Parsed]) -> Iterator[str]:
    """Yield CoNLL-U."""

    def sentences() -> Iterator[ConlluSentence]:
        for number, (doc, _) in enumerate(parsed, start=1):
            yield from doc_to_sentences(doc, doc_id=str(number))

    return write_conllu(sentences())


def to_jsonl(parsed: Iterable[Parsed]) -> Iterator[str]:
    """Yield JSON lines: spaCy's format, with the columns and keys that only some Docs have."""
    for doc, record in parsed:
        underscore = [plugin.EXTENSION for plugin in plugins().values() if _has(doc, plugin.EXTENSION)]
        underscore += [column.extension for column in own_columns(doc) if column.extension]
        content = {**record, **doc.to_json(underscore=underscore), **own_record(doc)}
        yield json.dumps(content, ensure_ascii=False) + "\n"


def _has(doc: Doc, extension: str) -> bool:
    return Doc.has_extension(extension) and doc._.get(extension) is not None


def with_scores(
    parsed: Iterable[Parsed], parser: G2GParser, *, kbest: int | None, confidence: bool
) -> Iterator[Parsed]:
    """Add the k best trees of each sentence, and the probabilities of its tree and arcs, to the keys."""
    for doc, record in parsed:
        record = {**record}
        if confidence:
            record["confidence"] = [asdict(tree) for tree in parser.confidence(doc)]
        if kbest:
            record["kbest"] = [list(map(asdict, trees)) for trees in parser.kbest(doc, kbest)]
            doc._.set(SCORES, None)
        yield doc, record


def to_ranked(parsed: Iterable[Parsed], *, parser: G2GParser, k: int) -> Iterator[str]:
    """Yield a block of CoNLL-U for each of the k best trees, with the comments ``rank`` and ``score``."""

    def sentences() -> Iterator[ConlluSentence]:
        for number, (doc, _) in enumerate(parsed, start=1):
            ranked = parser.kbest(doc, k)
            doc._.set(SCORES, None)
            set_enhanced(doc, None)  # It belongs to the best tree alone.
            visible = (s for s in doc_to_sentences(doc, doc_id=str(number)) if s.text.strip())
            for sentence, trees in zip(visible, ranked, strict=True):
                for rank, tree in enumerate(trees, start=1):
                    yield _with_tree(sentence, tree, rank)

    return write_conllu(sentences())


def _with_tree(sentence: ConlluSentence, tree: RankedTree, rank: int) -> ConlluSentence:
    """Return a sentence with another tree. Words of white space, which are not parsed, keep their heads."""
    visible = [i for i, word in enumerate(sentence.words) if word.form.strip()]
    places = dict(zip(tree.tokens, visible, strict=True))
    heads = [str(word.head) for word in sentence.words]
    deps = [word.deprel for word in sentence.words]
    for token, head, dep in zip(tree.tokens, tree.heads, tree.deps, strict=True):
        heads[places[token]] = str(0 if head == token else places[head] + 1)
        deps[places[token]] = "root" if dep == "ROOT" else dep
    comments = {"rank": str(rank), "score": f"{tree.score:.4f}"}
    return sentence.with_tree(head=heads, deprel=deps).with_comments(comments)
