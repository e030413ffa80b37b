"""Plain JSON: a text, or words with what is known of them, to trees and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from spacy.tokens import Doc

from .. import __version__
from ..data.doc_constraints import constrain
from ..data.docs import doc_to_sentences, sentences_of
from ..errors import Errors
from .limits import MAX_CONSTRAINTS, MAX_WORDS_OF_TREES, SQUARES_A_WORD, Limits, RefusedError
from .worker import Task, Worker

#: Token: a number that is a key of a JSON object, and so comes as a string.
Key = Annotated[int, Field(ge=0)]
#: Strings whose length has a bound are checked for halves of characters.
Text = Annotated[StrictStr, Field(max_length=10**7)]
Word = Annotated[StrictStr, Field(min_length=1)]
Answer = dict[str, Any]


class Part(BaseModel):
    """Part of a request, without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Constraints(Part):
    """What the tree must have; see ``data.constraints.constrain``."""

    heads: dict[Key, StrictInt] = {}
    deps: dict[Key, StrictStr] = {}
    not_heads: dict[Key, list[StrictInt]] = {}
    not_deps: dict[Key, list[StrictStr]] = {}
    subtrees: list[list[StrictInt]] = []

    def __len__(self) -> int:
        """Return the number of constraints."""
        lists: list[list[Any]] = [*self.not_heads.values(), *self.not_deps.values(), *self.subtrees]
        return len(self.heads) + len(self.deps) + sum(map(len, lists))


class Question(Part):
    """What to parse, and what to tell.

    text: Text. Either this or words.
    words: Words, which stay as they are.
    spaces: Whether a space follows each word.
    sent_starts: Whether a sentence starts at each word. Without it, the pipeline sets sentences.
    tags: Tag of each word.
    constraints: What the tree must have.
    k: Number of trees of each sentence.
    conllu: Whether to give each sentence in CoNLL-U as well.
    """

    text: Text | None = None
    words: list[Word] | None = None
    spaces: list[StrictBool] | None = None
    sent_starts: list[StrictBool] | None = None
    tags: list[Text] | None = None
    constraints: Constraints = Constraints()
    k: Annotated[StrictInt, Field(ge=1)] = 1
    conllu: StrictBool = False


def check(question: Question, limits: Limits) -> None:
    """Raise RefusedError for a question that is over a limit or has no single meaning."""
    words = question.words
    if (question.text is None) == (words is None):
        raise RefusedError(422, Errors.E1208)
    if question.k > limits.max_k:
        raise RefusedError(413, Errors.E1209.format(k=question.k, limit=limits.max_k))
    for name in ("spaces", "sent_starts", "tags"):
        values = getattr(question, name)
        if values is not None and len(values) != len(words or ()):
            raise RefusedError(422, Errors.E1210.format(name=name, n=len(values), words=len(words or ())))
    limits.check_words(len(words or ()), len(question.text or ""))
    # spaCy's tokenizer takes time with the square of each stretch without white space, if it is punctuation.
    lengths = [len(stretch) for stretch in (question.text or "").split()]
    if sum(n * n for n in lengths) > SQUARES_A_WORD * limits.max_words:
        raise RefusedError(413, Errors.E1225.format(n=max(lengths)))
    n = len(question.constraints)
    if n > MAX_CONSTRAINTS:
        raise RefusedError(413, Errors.E1211.format(n=n, limit=MAX_CONSTRAINTS))
    if n and words is None:
        raise RefusedError(422, Errors.E1212)


def make_doc(question: Question, worker: Worker) -> Doc:
    """Make the Doc of a question. Raises RefusedError if trees of so many words take too long to find."""
    if question.words is None:
        doc = worker.nlp.make_doc(question.text or "")
    else:
        given = {"spaces": question.spaces, "sent_starts": question.sent_starts, "tags": question.tags}
        columns: Any = {name: values for name, values in given.items() if values is not None}
        doc = Doc(worker.nlp.vocab, words=question.words, **columns)
    if question.k > 1 and question.k * len(doc) > MAX_WORDS_OF_TREES:
        raise RefusedError(413, Errors.E1223.format(k=question.k, n=len(doc), limit=MAX_WORDS_OF_TREES))
    if question.constraints:
        worker.check_constrained(longest_sentence(doc))
    constrain(doc, **question.constraints.model_dump())
    return doc


def longest_sentence(doc: Doc) -> int:
    """Return the number of words of the longest sentence."""
    return max(map(len, sentences_of(doc)), default=0)


def answer(doc: Doc, worker: Worker, question: Question) -> Answer:
    """Return what there is to tell of a parsed Doc: its tokens and the trees of its sentences.

    doc: Parsed Doc.
    worker: Worker that has parsed it.
    question: What is asked.
    Raises ValueError if the parser has one tree only, and k is above 1.
    """
    found = list(sentences(doc, worker, question.k))
    if question.conllu:
        for sentence, rows in zip(found, doc_to_sentences(doc), strict=True):
            sentence["conllu"] = str(rows)
    return {
        "words": [token.text for token in doc],
        "spaces": [bool(token.whitespace_) for token in doc],
        "sentences": found,
    }


def sentences(doc: Doc, worker: Worker, k: int) -> Iterator[Answer]:
    """Yield the tree of each sentence, with probabilities if the parser has any."""
    parser = worker.parser
    if k > 1:
        worker.check_constrained(longest_sentence(doc))
    ranked = parser.kbest(doc, k) if k > 1 else None
    if worker.has_scores:
        found = [asdict(of) for of in parser.confidence(doc)]
    else:
        words = ([token.i for token in span if not token.is_space] for span in sentences_of(doc))
        found = [{"tokens": tokens} for tokens in words if tokens]
    for i, sentence in enumerate(found):
        tokens = [doc[token] for token in sentence["tokens"]]
        tree = {"heads": [token.head.i for token in tokens], "deps": [token.dep_ for token in tokens]}
        trees = [] if ranked is None else [asdict(tree) for tree in ranked[i]]
        yield {**sentence, **tree, **({"kbest": trees} if ranked is not None else {})}


def make_router(worker: Worker) -> APIRouter:
    """Return the routes of plain JSON."""
    router = APIRouter()

    @router.post("/parse")
    async def parse(question: Question) -> Answer:
        """Parse a text or words, with what is known of them."""
        check(question, worker.limits)
        # A text has a word in about five characters.
        n_words = len(question.words or ()) + len(question.text or "") // 5
        task = Task(
            n_words,
            make=lambda: make_doc(question, worker),
            tell=lambda doc: answer(doc, worker, question),
        )
        (found,) = await worker.ask([task])
        return dict(found)

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
