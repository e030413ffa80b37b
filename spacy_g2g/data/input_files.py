"""Files that pipelines annotate: text, JSON lines, CoNLL-U, spaCy's binary format, and those of plug-ins.

The Docs have words and sentences, and no tree.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import Errors
from ..formats.conllu import ConlluSentence, read_conllu, text_lines
from .doc_graphs import write_initial_graph
from .docs import TOKEN_ANNOTATIONS, read_bin, sentences_to_doc, sentences_to_docs
from .plugins import plugins
from .refiner_corpus import align_graphs

#: Pattern of a line that only AMR files have.
AMR_LINE = re.compile(r"\s*#\s*::(?:id|snt|tok)\s")

#: Text or Doc to annotate, with further keys that go to the output.
Document = tuple[str | Doc, dict[str, Any]]


def input_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that ``read_documents`` reads."""
    return (".txt", ".jsonl", ".conllu", *plugins(), ".spacy")


def read_documents(path: Path, vocab: Vocab, *, unit: str = "line") -> Iterator[Document]:
    """Yield the documents of a file by its suffix, one of ``input_suffixes``.

    Each sentence of CoNLL-U, and of a plug-in's file, is a Doc.

    unit: How text is split into documents; see ``read_texts``.
    Raises ValueError with the place that can't be read.
    """
    if path.suffix == ".jsonl":
        yield from ((record["text"], record) for record in read_records(path))
    elif path.suffix == ".txt":
        yield from ((text, {}) for text in read_texts(path, unit))
    else:
        yield from ((doc, {}) for doc in _read_docs(path, vocab))


def _read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    if path.suffix == ".conllu":
        yield from sentences_to_docs(read_conllu(path, trees="any"), vocab, annotations=TOKEN_ANNOTATIONS)
    elif path.suffix == ".spacy":
        yield from _read_spacy(path, vocab)
    else:
        yield from (doc for doc, _ in plugins()[path.suffix].read(path, vocab))


def read_texts(path: Path, unit: str = "line") -> Iterator[str]:
    """Yield the documents of a text file that are not empty. White space within them stays as it is.

    path: Text file in UTF-8.
    unit: Unit of a document: "line", "paragraph" (lines up to an empty one), or "file".
    Raises ValueError with the line number if a line is not UTF-8 or belongs to an AMR file.
    """
    texts: Iterable[str] = _plain_lines(path)
    if unit == "file":
        texts = ["".join(texts)]
    elif unit == "paragraph":
        texts = ("".join(lines) for _, lines in groupby(texts, lambda line: not line.strip()))
    yield from (text.rstrip("\r\n") for text in texts if text.strip())


def _plain_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(text_lines(path), start=1):
        if AMR_LINE.match(line):
            raise ValueError(Errors.E908.format(path=path, number=number, line=line.strip()[:60]))
        yield line


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines, without empty lines.

    Raises ValueError with the line number for a line that is not an object with a text.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "\\ud" in line.lower():  # A lone surrogate can't be written.
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise ValueError(Errors.E905.format(path=path, line=number, row=line[:80]))
        yield record


def unparsed_doc(sentences: Sequence[ConlluSentence], vocab: Vocab, *, keep_source: bool = True) -> Doc:
    """Make one Doc of sentences of CoNLL-U, with their tags, features and lemmas, and without a tree."""
    return sentences_to_doc(sentences, vocab, annotations=TOKEN_ANNOTATIONS, keep_source=keep_source)


def _read_spacy(path: Path, vocab: Vocab) -> Iterator[Doc]:
    n_read = 0
    try:
        for doc in read_bin(path.read_bytes(), vocab):
            if isinstance(doc, Exception):
                raise doc
            n_read += 1
            for plugin in plugins().values():
                plugin.remove(doc)
            yield doc
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(Errors.E928.format(path=path, number=n_read + 1, error=reason)) from error


def read_gold(path: Path, *, attach_roots: bool = False) -> list[ConlluSentence]:
    """Return the sentences of a treebank with full trees. Raises FileNotFoundError if there is no file, and
    ValueError if it has none.

    attach_roots: Let every root of a sentence after the first depend on the first.
    """
    if not path.is_file():
        raise FileNotFoundError(Errors.E906.format(path=path))
    sentences = list(read_conllu(path, trees="full", attach_roots=attach_roots))
    if not sentences:
        raise ValueError(Errors.E925.format(path=path))
    return sentences


def gold_docs(
    sentences: Iterable[ConlluSentence],
    vocab: Vocab,
    source: Path,
    *,
    gold_tags: bool,
    initial: Path | None,
    keep_source: bool = True,
) -> Iterator[Doc]:
    """Yield a Doc with gold words for each sentence, as input of a pipeline.

    source: File of the sentences, for error messages.
    gold_tags: Whether Docs get gold tags, features and lemmas as well.
    initial: File with the initial graphs; None gives the Docs none.
    keep_source: Whether Docs keep the text of their CoNLL-U sentences.
    """
    annotations = TOKEN_ANNOTATIONS if gold_tags else ("SENT_START",)
    docs = sentences_to_docs(sentences, vocab, annotations=annotations, keep_source=keep_source)
    yield from with_initial_graphs(docs, initial, source=source)


def with_initial_graphs(docs: Iterable[Doc], initial: Path | None, *, source: Path) -> Iterator[Doc]:
    """Write initial graphs to Docs, as ``gold_docs`` does."""
    if initial is None:
        yield from docs
        return
    for doc, graphs in align_graphs(docs, initial, source):
        write_initial_graph(doc, graphs)
        yield doc
