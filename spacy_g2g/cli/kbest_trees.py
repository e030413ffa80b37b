"""The k best trees of each sentence in the files that ``parse`` writes."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from ..data.docs import doc_to_sentences
from ..formats.conllu import ConlluSentence, write_conllu
from ..pipeline.final_parser import final_parser
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.scored_trees import SCORES, RankedTree
from .common import Result


def with_confidence(parser: G2GParser, results: Iterable[Result]) -> Iterator[Result]:
    """Add the key "confidence" to the keys of each Doc: the probabilities of each sentence's tree and arcs.

    parser: Parser that has parsed the Docs and kept its scores, which stay in the Docs.
    """
    for doc, record in results:
        yield doc, {**record, "confidence": [asdict(found) for found in parser.confidence(doc)]}


class Ranker:
    """The final parser of a pipeline, which keeps its scores from now on, and a number of trees.

    Raises ValueError as ``final_parser`` does.
    """

    def __init__(self, nlp: Language, k: int) -> None:
        self.parser = final_parser(nlp, keep_scores=True)
        self.k = k

    def rank(self, doc: Doc) -> list[list[RankedTree]]:
        """Return the best trees of each sentence that has words, and remove the scores from the Doc."""
        found = self.parser.kbest(doc, self.k)
        doc._.set(SCORES, None)
        return found

    def with_keys(self, results: Iterable[Result]) -> Iterator[Result]:
        """Add the key "kbest" to the keys of each Doc: for each sentence a list of trees."""
        for doc, record in results:
            yield doc, {**record, "kbest": [[asdict(tree) for tree in trees] for trees in self.rank(doc)]}

    def write_conllu(self, results: Iterable[Result], path: Path) -> int:
        """Write a block for each tree, with the comments ``rank`` and ``score``.

        Returns the number of Docs.
        """
        n_docs = 0

        def sentences() -> Iterator[ConlluSentence]:
            nonlocal n_docs
            for doc, _ in results:
                n_docs += 1
                ranked = self.rank(doc)
                written = doc_to_sentences(doc, doc_id=str(n_docs))
                for sentence, trees in zip(written, ranked, strict=True):
                    for rank, tree in enumerate(trees, start=1):
                        yield _with_tree(sentence, tree, rank)

        with path.open("w", encoding="utf8", newline="") as file_:
            file_.writelines(write_conllu(sentences()))
        return n_docs


def _with_tree(sentence: ConlluSentence, tree: RankedTree, rank: int) -> ConlluSentence:
    """Return a sentence with another tree."""
    numbers = {token: number for number, token in enumerate(tree.tokens, start=1)}
    pairs = list(zip(tree.tokens, tree.heads, strict=True))
    heads = [str(0 if head == token else numbers[head]) for token, head in pairs]
    comments = {"rank": str(rank), "score": f"{tree.score:.4f}"}
    deps = ["root" if dep == "ROOT" else dep for dep in tree.deps]
    return sentence.replace(head=heads, deprel=deps).with_comments(comments)
