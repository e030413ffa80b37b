"""Plain JSON: answers a text, or words with annotation and constraints, by trees and probabilities."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from spacy.tokens import Doc

from .. import __version__
from ..data.doc_record import make_record, own_record
from ..data.docs import doc_to_sentences, sentences_of
from ..data.input_files import unparsed_doc
from ..data.multiword import mark_words
from ..errors import Errors
from ..formats.conllu import read_lines
from ..scored.doc_constraints import constrain
from .limits import (
    MAX_CONSTRAINTS,
    MAX_WORDS_OF_TREES,
    SQUARES_PER_WORD,
    Limits,
    RefusedError,
    check_at_most,
    check_constrained,
)
from .worker import Task, Worker

#: Index of a token. It is a string in JSON, as all keys of objects.
Key = Annotated[int, Field(ge=0)]
#: Strings with a maximum length are also checked for lone surrogates.
Text = Annotated[StrictStr, Field(max_length=10**7)]
Word = Annotated[StrictStr, Field(min_length=1)]
Answer = dict[str, Any]


class ConstraintSet(BaseModel):
    """Constraints on the tree; see ``scored.doc_constraints.constrain``."""

    model_config = ConfigDict(extra="forbid")

    heads: dict[Key, StrictInt] = {}
    deps: dict[Key, StrictStr] = {}
    not_heads: dict[Key, list[StrictInt]] = {}
    not_deps: dict[Key, list[StrictStr]] = {}
    subtrees: list[list[StrictInt]] = []

    def count(self) -> int:
        """Return the number of constraints."""
        lists: list[list[Any]] = [*self.not_heads.values(), *self.not_deps.values(), *self.subtrees]
        return len(self.heads) + len(self.deps) + sum(map(len, lists))


class ParseRequest(BaseModel):
    """Request to parse a text, words or rows.

    text: Text. A request has exactly one of text, words and rows.
    words: Words, which stay as they are.
    rows: CoNLL-U. Its words and sentences stay as they are, and its tree is parsed anew.
    spaces: Whether a space follows each word.
    sent_starts: Whether each word starts a sentence. Without it, the pipeline finds sentences.
    tags: Tag of each word.
    constraints: Constraints on the tree.
    k: Number of trees of each sentence.
    conllu: Whether the answer also has each sentence in CoNLL-U.
    """

    model_config = ConfigDict(extra="forbid")

    text: Text | None = None
    words: list[Word] | None = None
    rows: Text | None = None
    spaces: list[StrictBool] | None = None
    sent_starts: list[StrictBool] | None = None
    tags: list[Text] | None = None
    constraints: ConstraintSet = ConstraintSet()
    k: Annotated[StrictInt, Field(ge=1)] = 1
    conllu: StrictBool = False

    @property
    def columns(self) -> dict[str, Any]:
        """Values for each word, by the names of arguments of a Doc."""
        columns = {"spaces": self.spaces, "sent_starts": self.sent_starts, "tags": self.tags}
        return {name: values for name, values in columns.items() if values is not None}

    @property
    def n_words(self) -> int:
        """Approximate number of words to parse. A text has about one word in five characters."""
        return len(self.words or ()) + len(self.text or "") // 5 + (self.rows or "").count("\n")

    def check(self, limits: Limits) -> None:
        """Raise RefusedError for a request that is over a limit or contradicts itself."""
        words, text = self.words or (), self.text or ""
        if [self.text, self.words, self.rows].count(None) != 2:
            raise RefusedError(422, Errors.E1208)
        check_at_most("k", self.k, limit=limits.max_k, option="--max-k")
        for name, values in self.columns.items():
            if len(values) != len(words):
                raise RefusedError(422, Errors.E1210.format(name=name, n=len(values), words=len(words)))
        limits.check_words(len(words), n_characters=len(text))
        limits.check_rows(self.rows or "")
        # The time of spaCy's tokenizer grows with the square of each stretch without white space, if it is
        # punctuation.
        squares = sum(len(stretch) ** 2 for stretch in text.split())
        what = "Squared lengths of stretches without white space"
        check_at_most(what, squares, limit=SQUARES_PER_WORD * limits.max_words, option="--max-words")
        check_at_most("Constraints", self.constraints.count(), limit=MAX_CONSTRAINTS)
        if self.constraints.count() > 0 and self.text is not None:
            raise RefusedError(422, Errors.E1212)

    def make_doc(self, worker: Worker) -> Doc:
        """Make the Doc. Raises RefusedError if its trees would take too long to find."""
        vocab = worker.nlp.vocab
        if self.rows is not None:
            doc = unparsed_doc(list(read_lines(io.StringIO(self.rows, newline="\n"), "rows", "any")), vocab)
        elif self.words is None:
            doc = worker.nlp.make_doc(self.text or "")
        else:
            doc = Doc(vocab, words=self.words, **self.columns)
            mark_words(doc, [], [])
        if self.k > 1:
            check_at_most("k times the words", self.k * len(doc), limit=MAX_WORDS_OF_TREES)
        if self.constraints.count() > 0:
            check_constrained(longest_sentence(doc))
        constrain(doc, **self.constraints.model_dump())
        return doc

    def render(self, doc: Doc, worker: Worker) -> Answer:
        """Build the response for a parsed Doc: its tokens, and the trees of its sentences.

        Raises ValueError if k is above 1 and the parser has one tree only.
        """
        sentences = list(render_sentences(doc, worker, self.k))
        if self.conllu:
            for sentence, rows in zip(sentences, doc_to_sentences(doc), strict=True):
                sentence["conllu"] = str(rows)
        return {**make_record(doc, ("words", "spaces")), "sentences": sentences, **own_record(doc)}


class ConlluFile(BaseModel):
    """A file in CoNLL-U: its name, for messages, and its text."""

    model_config = ConfigDict(extra="forbid")

    name: Text
    text: Text

    def count(self) -> Answer:
        """Return the numbers of sentences and words.

        Raises ValueError with name, line and value if it is not CoNLL-U, if heads are not part of a tree, or
            without a sentence.
        """
        lines = io.StringIO(self.text, newline="\n")
        lengths = [len(sentence.words) for sentence in read_lines(lines, self.name[:80], "partial")]
        if not lengths:
            raise RefusedError(422, Errors.E1213.format(name=self.name[:80]))
        return {"sentences": len(lengths), "words": sum(lengths)}


def longest_sentence(doc: Doc) -> int:
    """Return the number of words of the longest sentence."""
    return max(map(len, sentences_of(doc)), default=0)


def render_sentences(doc: Doc, worker: Worker, k: int = 1) -> Iterator[Answer]:
    """Yield the tree of each sentence, with probabilities if the parser has any, and its k best trees."""
    parser = worker.parser
    if k > 1:
        check_constrained(longest_sentence(doc))
    ranked = parser.kbest(doc, k) if k > 1 else None
    if worker.has_scores:
        sentences = list(map(asdict, parser.confidence(doc)))
    else:
        sentences = []
        for span in sentences_of(doc):
            if tokens := [token.i for token in span if not token.is_space]:
                sentences.append({"tokens": tokens})
    tree = make_record(doc, ("heads", "deps"))
    for i, sentence in enumerate(sentences):
        for name, values in tree.items():
            sentence[name] = [values[token] for token in sentence["tokens"]]
        if ranked is not None:
            sentence["kbest"] = list(map(asdict, ranked[i]))
        yield sentence


def json_router(worker: Worker) -> APIRouter:
    """Return the routes of plain JSON."""
    router = APIRouter()

    @router.post("/parse")
    async def parse(request: ParseRequest) -> Answer:
        """Parse a text, words or rows."""
        request.check(worker.limits)

        task = Task(
            request.n_words,
            make=lambda: request.make_doc(worker),
            render=lambda doc: request.render(doc, worker),
        )
        (answer,) = await worker.ask([task])
        return dict(answer)

    @router.post("/conllu")
    async def check_conllu(file: ConlluFile) -> Answer:
        """Check a file in CoNLL-U, and count its sentences and words."""
        return await worker.read(file.count)

    @router.get("/pipeline")
    async def pipeline() -> Answer:
        """Describe the pipeline: its name, the labels of its parser, and the limits of requests."""
        meta = worker.nlp.meta
        return {
            "name": f"{meta['lang']}_{meta['name']}",
            "version": meta["version"],
            "spacy_g2g": __version__,
            "labels": list(worker.parser.labels),
            "has_scores": worker.has_scores,
            "calibrated": worker.has_scores and tuple(worker.parser.temperatures) != (1.0, 1.0),
            "limits": asdict(worker.limits),
        }

    return router
