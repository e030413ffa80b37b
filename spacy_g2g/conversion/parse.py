"""``parse``: annotate a file with a pipeline."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..amr.api import AMR, get_amr_ids, get_amrs, has_amrs, set_amrs, write_amrs
from ..data.docs import (
    TOKEN_ANNOTATIONS,
    doc_to_sentences,
    read_bin,
    sentences_of,
    sentences_to_docs,
)
from ..data.enhanced import ENHANCED, own_enhanced, set_enhanced
from ..data.multiword import multiword_tokens, word_forms
from ..data.source import source_arcs, source_sentences
from ..errors import Errors
from ..files import atomic_path, is_stream
from ..formats.conllu import ConlluSentence, read_conllu, text_lines, write_conllu
from ..parser.final_parser import final_parser
from ..parser.g2g_parser import G2GParser
from ..scored.doc_constraints import constrain as set_constraints
from ..scored.scored_trees import SCORES, RankedTree
from ..sentences.rewriting import with_white_space
from ..terminal.common import check_suffix, progress, read_amr_words, read_texts, with_initial_graphs
from ..terminal.messages import msg
from ..terminal.options import BatchSize, Documents, GpuId, Initial, Pipeline, Silent, Unit

AMR_SUFFIX = ".amr"
OUT_SUFFIXES = (".conllu", ".jsonl", ".spacy", AMR_SUFFIX)
#: Suffixes of output with the k best trees.
RANKED_SUFFIXES = (".conllu", ".jsonl")

#: Text or Doc to annotate, with further keys that go to the output.
Given = tuple[str | Doc, dict[str, Any]]
#: Annotated Doc with these keys.
Parsed = tuple[Doc, dict[str, Any]]
#: Yields the text of annotated Docs.
ToText = Callable[[Iterable[Parsed]], Iterator[str]]


def parse(
    pipeline: Pipeline,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help=".txt (see --documents), .jsonl (objects with a text), .conllu, .amr or .spacy",
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help=".conllu, .jsonl, .amr or .spacy")],
    *,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of OUT, in place of its suffix")
    ] = None,
    documents: Documents = Unit.LINE,
    initial: Initial = None,
    kbest: Annotated[
        int | None,
        typer.Option("--kbest", "-k", min=1, help="Write this many trees of each sentence, best first"),
    ] = None,
    constrain: Annotated[
        bool,
        typer.Option("--constrain", help="Keep each HEAD and DEPREL of a .conllu file that is not _"),
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Add probabilities of trees and arcs to .jsonl, calibrated if fitted"
        ),
    ] = False,
    silent: Silent = False,
) -> int:
    """Parse a file. Documents keep their order; empty lines of text are skipped.

    CoNLL-U and AMR files give words and sentences. From CoNLL-U to CoNLL-U, only HEAD and DEPREL change, and
    DEPS is emptied where they do. With --kbest, CoNLL-U has a block for each tree, with the comments rank and
    score, and .jsonl a list. Further keys of .jsonl go to the output. Sentences of .amr keep the ids of the
    input ("id" in .jsonl).
    """
    silent = silent or is_stream(output)
    read = _READERS[check_suffix(source, tuple(_READERS))]
    suffixes = RANKED_SUFFIXES if kbest else OUT_SUFFIXES
    written = Path(f"{output}.{format}") if format else output
    out_suffix = check_suffix(written, (".jsonl",) if confidence else suffixes)
    needed = {(".txt",): documents != Unit.LINE, (".conllu",): constrain, (".conllu", ".spacy"): initial}
    for fitting, is_needed in needed.items():
        if is_needed:
            check_suffix(source, fitting)
    if not source.is_file():
        raise FileNotFoundError(Errors.E906.format(path=source))
    setup_gpu(gpu_id, silent=silent)
    nlp = spacy.load(pipeline)
    parser = final_parser(nlp, keep_scores=True) if kbest or confidence else None
    given = read(source, nlp)
    if documents != Unit.LINE:
        given = ((text, {}) for text in read_texts(source, documents))
    if source.suffix == ".conllu":
        is_spaced = out_suffix == ".jsonl" and initial is None
        given = (_prepared(doc, constrain, is_spaced) for doc, _ in given if isinstance(doc, Doc))
    if initial is not None:
        docs = (doc for doc, _ in given if isinstance(doc, Doc))
        given = ((doc, {}) for doc in with_initial_graphs(docs, initial, source))
    annotated: Any = nlp.pipe(given, as_tuples=True, batch_size=batch_size or None)
    parsed = progress(annotated, unit="Docs", silent=silent)
    if parser is not None and out_suffix == ".jsonl":
        parsed = _with_scores(parsed, parser, kbest, confidence)
    to_text: ToText | None = _TO_TEXT.get(out_suffix)
    if out_suffix == AMR_SUFFIX:
        to_text = partial(_to_amrs, name=source.stem, names=nlp.pipe_names)
    elif parser is not None and kbest and out_suffix == ".conllu":
        to_text = partial(_to_ranked, parser=parser, k=kbest)
    with atomic_path(output) as path:
        n_docs = _write_spacy(parsed, path) if to_text is None else _write_text(parsed, path, to_text)
    if not silent:
        msg.good(f"{n_docs} Docs: {output}")
    return n_docs


def _read_jsonl(path: Path, _nlp: Language) -> Iterator[Given]:
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "\\ud" in line.lower():  # half a character can't be written
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise ValueError(Errors.E905.format(path=path, line=number, row=line[:80]))
        yield record["text"], record


def _read_conllu(path: Path, nlp: Language) -> Iterator[Given]:
    sentences = read_conllu(path, trees="any")
    for doc in sentences_to_docs(sentences, nlp.vocab, annotations=TOKEN_ANNOTATIONS):
        yield doc, {}


def _prepared(doc: Doc, constrain: bool, is_spaced: bool) -> Given:
    """Return a Doc of CoNLL-U with what the options and the format of the output ask for.

    constrain: Set the heads and labels of the file as constraints.
    is_spaced: Give the text the white space that MISC has. The Doc then has tokens that are not in the file.
    """
    heads, deps = source_arcs(doc) if constrain else ({}, {})
    places = [*range(len(doc))]
    if is_spaced:
        doc, places = with_white_space(doc, [*source_sentences(doc)])
    if constrain:
        known = {places[token]: places[head] for token, head in heads.items()}
        set_constraints(doc, heads=known, deps={places[token]: dep for token, dep in deps.items()})
    return doc, {}


def _read_spacy(path: Path, nlp: Language) -> Iterator[Given]:
    n_read = 0
    try:
        for doc in read_bin(path.read_bytes(), nlp.vocab):
            if isinstance(doc, Exception):
                raise doc
            n_read += 1
            if has_amrs(doc):
                set_amrs(doc, None)
            yield doc, {}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(Errors.E928.format(path=path, number=n_read + 1, error=reason)) from error


def _write_spacy(parsed: Iterable[Parsed], path: Path) -> int:
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


def _write_text(parsed: Iterable[Parsed], path: Path, to_text: ToText) -> int:
    """Write Docs as they come, and return their number."""
    n_docs = 0

    def counted() -> Iterator[Parsed]:
        nonlocal n_docs
        for one in parsed:
            n_docs += 1
            yield one

    with path.open("w", encoding="utf8", newline="") as file_:
        file_.writelines(to_text(counted()))
    return n_docs


def _to_conllu(parsed: Iterable[Parsed]) -> Iterator[str]:
    docs = enumerate((doc for doc, _ in parsed), start=1)
    return write_conllu(s for number, doc in docs for s in doc_to_sentences(doc, doc_id=str(number)))


def _to_jsonl(parsed: Iterable[Parsed]) -> Iterator[str]:
    for doc, record in parsed:
        underscore = [AMR] * has_amrs(doc) + [ENHANCED] * (own_enhanced(doc) is not None)
        ranges = multiword_tokens(doc)
        words = {"forms": word_forms(doc), "multiword_tokens": ranges} if ranges else {}
        yield json.dumps({**record, **doc.to_json(underscore=underscore), **words}, ensure_ascii=False) + "\n"


def _with_scores(
    parsed: Iterable[Parsed], parser: G2GParser, kbest: int | None, confidence: bool
) -> Iterator[Parsed]:
    """Add the k best trees of each sentence, and the probabilities of its tree and arcs, to the keys."""
    for doc, record in parsed:
        if confidence:
            record = {**record, "confidence": [asdict(found) for found in parser.confidence(doc)]}
        if kbest:
            record = {**record, "kbest": [[asdict(tree) for tree in t] for t in parser.kbest(doc, kbest)]}
            doc._.set(SCORES, None)
        yield doc, record


def _to_ranked(parsed: Iterable[Parsed], parser: G2GParser, k: int) -> Iterator[str]:
    """Yield a block of CoNLL-U for each tree, with the comments ``rank`` and ``score``."""

    def sentences() -> Iterator[ConlluSentence]:
        for number, (doc, _) in enumerate(parsed, start=1):
            ranked = parser.kbest(doc, k)
            doc._.set(SCORES, None)
            set_enhanced(doc, None)  # that of the best tree alone
            written = (s for s in doc_to_sentences(doc, doc_id=str(number)) if s.text.strip())
            for sentence, trees in zip(written, ranked, strict=True):
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


def _to_amrs(parsed: Iterable[Parsed], name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield AMRs.

    parsed: Annotated Docs.
    name: Prefix of the id that sentences without an id get.
    names: Names of the pipeline's components, for error messages.
    """
    numbers = count(1)

    def amrs() -> Iterator[tuple[dict[str, str], str]]:
        for doc, record in parsed:
            spans, texts, forms = sentences_of(doc), get_amrs(doc), word_forms(doc)
            if texts is None and spans:
                raise ValueError(Errors.E902.format(text=spans[0].text[:80], names=list(names)))
            ids = _sentence_ids(doc, record, len(spans))
            for span, id_, text in zip(spans, ids, texts or [], strict=True):
                words = ["_".join(forms[token.i].split()) for token in span if token.text.strip()]
                if words:
                    number, snt = next(numbers), " ".join(span.text.split())
                    yield {"id": id_ or f"{name}.{number}", "snt": snt, "tok": " ".join(words)}, text

    return write_amrs(amrs())


def _sentence_ids(doc: Doc, record: dict[str, Any], n: int) -> list[str]:
    """Return the ids of a Doc's n sentences in the input, "" if a sentence has no id."""
    ids = get_amr_ids(doc) or [sentence.comment("sent_id") or "" for sentence in source_sentences(doc)]
    if len(ids) == n:
        return ids
    doc_id = record.get("id")
    if not isinstance(doc_id, str | int) or doc_id == "":
        return [""] * n
    return [str(doc_id)] if n == 1 else [f"{doc_id}.{number}" for number in range(1, n + 1)]


_READERS: dict[str, Callable[[Path, Language], Iterator[Given]]] = {
    ".txt": lambda path, _: ((text, {}) for text in read_texts(path)),
    ".jsonl": _read_jsonl,
    ".conllu": _read_conllu,
    AMR_SUFFIX: lambda path, nlp: ((doc, {}) for doc, _ in read_amr_words(path, nlp.vocab)),
    ".spacy": _read_spacy,
}
_TO_TEXT: dict[str, ToText] = {".conllu": _to_conllu, ".jsonl": _to_jsonl}
