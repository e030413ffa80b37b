"""Plain JSON: a text, or words with what is known of them, to trees and probabilities."""

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
from ..data.multiword import mark_words
from ..data.reading import unparsed_doc
from ..errors import Errors
from ..formats.conllu import read_lines
from ..scored.doc_constraints import constrain
from .limits import (
    MAX_CONSTRAINTS,
    MAX_WORDS_OF_TREES,
    SQUARES_A_WORD,
    Limits,
    RefusedError,
    check_at_most,
    check_constrained,
)
from .worker import Task, Worker

#: Token: a number that is a key of a JSON object, and so comes as a string.
Key = Annotated[int, Field(ge=0)]
#: Strings whose length has a bound are checked for halves of characters.
Text = Annotated[StrictStr, Field(max_length=10**7)]
Word = Annotated[StrictStr, Field(min_length=1)]
Answer = dict[str, Any]


class GivenConstraints(BaseModel):
    """What the tree must have; see ``data.doc_constraints.constrain``."""

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


class GivenText(BaseModel):
    """What to parse, and what to tell.

    text: Text. Either this, or words, or rows.
    words: Words, which stay as they are.
    rows: CoNLL-U. Its words and sentences stay as they are, and its tree is parsed anew.
    spaces: Whether a space follows each word.
    sent_starts: Whether a sentence starts at each word. Without it, the pipeline sets sentences.
    tags: Tag of each word.
    constraints: What the tree must have.
    k: Number of trees of each sentence.
    conllu: Whether to give each sentence in CoNLL-U as well.
    """

    model_config = ConfigDict(extra="forbid")

    text: Text | None = None
    words: list[Word] | None = None
    rows: Text | None = None
    spaces: list[StrictBool] | None = None
    sent_starts: list[StrictBool] | None = None
    tags: list[Text] | None = None
    constraints: GivenConstraints = GivenConstraints()
    k: Annotated[StrictInt, Field(ge=1)] = 1
    conllu: StrictBool = False

    @property
    def columns(self) -> dict[str, Any]:
        """What is given of each word, by the names of arguments of a Doc."""
        found = {"spaces": self.spaces, "sent_starts": self.sent_starts, "tags": self.tags}
        return {name: values for name, values in found.items() if values is not None}

    def check(self, limits: Limits) -> None:
        """Raise RefusedError for what is over a limit or has no single meaning."""
        words, text = self.words or (), self.text or ""
        if [self.text, self.words, self.rows].count(None) != 2:
            raise RefusedError(422, Errors.E1208)
        check_at_most("k", self.k, limits.max_k, "--max-k")
        for name, values in self.columns.items():
            if len(values) != len(words):
                raise RefusedError(422, Errors.E1210.format(name=name, n=len(values), words=len(words)))
        limits.check_words(len(words), len(text))
        limits.check_rows(self.rows or "")
        # spaCy's tokenizer takes time with the square of each stretch without white space, if it is
        # punctuation.
        squares = sum(len(stretch) ** 2 for stretch in text.split())
        what = "Squared lengths of stretches without white space"
        check_at_most(what, squares, SQUARES_A_WORD * limits.max_words, "--max-words")
        check_at_most("Constraints", self.constraints.count(), MAX_CONSTRAINTS)
        if self.constraints.count() and self.text is not None:
            raise RefusedError(422, Errors.E1212)

    def make_doc(self, worker: Worker) -> Doc:
        """Make the Doc. Raises RefusedError if trees of so many words take too long to find."""
        if self.rows is not None:
            sentences = list(read_lines(io.StringIO(self.rows, newline="\n"), "rows", "any"))
            doc = unparsed_doc(sentences, worker.nlp.vocab)
        elif self.words is None:
            doc = worker.nlp.make_doc(self.text or "")
        else:
            doc = Doc(worker.nlp.vocab, words=self.words, **self.columns)
            mark_words(doc, [], [])
        if self.k > 1:
            check_at_most("k times the words", self.k * len(doc), MAX_WORDS_OF_TREES)
        if self.constraints.count():
            check_constrained(longest_sentence(doc))
        constrain(doc, **self.constraints.model_dump())
        return doc

    def answer(self, doc: Doc, worker: Worker) -> Answer:
        """Return what there is to tell of the parsed Doc: its tokens and the trees of its sentences.

        Raises ValueError if the parser has one tree only, and k is above 1.
        """
        found = list(sentence_answers(doc, worker, self.k))
        if self.conllu:
            for sentence, rows in zip(found, doc_to_sentences(doc), strict=True):
                sentence["conllu"] = str(rows)
        return {**make_record(doc, ("words", "spaces")), "sentences": found, **own_record(doc)}


class GivenFile(BaseModel):
    """A file in CoNLL-U.

    name: Name of the file, for messages.
    text: Its text.
    """

    model_config = ConfigDict(extra="forbid")

    name: Text
    text: Text

    def count(self) -> Answer:
        """Return the numbers of sentences and words.

        Raises ValueError with name, line and value if it is not CoNLL-U, if heads are in no tree, or without
            a sentence.
        """
        lines = io.StringIO(self.text, newline="\n")
        words = [len(sentence.words) for sentence in read_lines(lines, self.name[:80], "partial")]
        if not words:
            raise RefusedError(422, Errors.E1213.format(name=self.name[:80]))
        return {"sentences": len(words), "words": sum(words)}


def longest_sentence(doc: Doc) -> int:
    """Return the number of words of the longest sentence."""
    return max(map(len, sentences_of(doc)), default=0)


def sentence_answers(doc: Doc, worker: Worker, k: int = 1) -> Iterator[Answer]:
    """Yield the tree of each sentence, with probabilities if the parser has any, and its k best trees."""
    parser = worker.parser
    if k > 1:
        check_constrained(longest_sentence(doc))
    ranked = parser.kbest(doc, k) if k > 1 else None
    if worker.has_scores:
        found = [asdict(confidence) for confidence in parser.confidence(doc)]
    else:
        words = ([token.i for token in span if not token.is_space] for span in sentences_of(doc))
        found = [{"tokens": tokens} for tokens in words if tokens]
    for i, sentence in enumerate(found):
        tokens = [doc[token] for token in sentence["tokens"]]
        sentence |= {"heads": [token.head.i for token in tokens], "deps": [token.dep_ for token in tokens]}
        if ranked is not None:
            sentence["kbest"] = [asdict(tree) for tree in ranked[i]]
        yield sentence


def json_router(worker: Worker) -> APIRouter:
    """Return the routes of plain JSON."""
    router = APIRouter()

    @router.post("/parse")
    async def parse(given: GivenText) -> Answer:
        """Parse a text or words, with what is known of them."""
        given.check(worker.limits)
        # A text has a word in about five characters.
        n_words = len(given.words or ()) + len(given.text or "") // 5 + (given.rows or "").count("\n")
        make, tell = (lambda: given.make_doc(worker)), (lambda doc: given.answer(doc, worker))
        (found,) = await worker.ask([Task(n_words, make=make, tell=tell)])
        return dict(found)

    @router.post("/conllu")
    async def check_conllu(given: GivenFile) -> Answer:
        """Check a file in CoNLL-U, and count its sentences and words."""
        return await worker.read(given.count)

    @router.get("/pipeline")
    async def pipeline() -> Answer:
        """Tell the pipeline's name, the labels of its parser, and what requests may ask for."""
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
