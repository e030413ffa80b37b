"""An ensemble parses by the mean of its parsers, whatever the order of their labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from experiments import ensemble
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu
from spacy_g2g.models.types import ArcScores

from ..util import initialised_nlp, make_nlp, parser_of, randomise, treebank_docs, treebank_examples


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ten sentences."""
    path = tmp_path_factory.mktemp("gold") / "gold.conllu"
    docs = [example.reference for example in treebank_examples(make_nlp())]
    path.write_text("".join(write_conllu([s for doc in docs for s in doc_to_sentences(doc)])))
    return path


def with_labels(labels: list[str], seed: int, folder: Path) -> Language:
    """A saved pipeline of a random parser with these labels."""
    nlp = make_nlp()
    settings = nlp.config["initialize"]["components"]["g2g_parser"]
    settings["labels"] = labels
    nlp.initialize(lambda: treebank_examples(nlp))
    randomise(parser_of(nlp).model, seed)
    nlp.to_disk(folder)
    return nlp


def scores_of(nlp: Language, labels: list[str]) -> list[dict[str, Any]]:
    """The scores of the ten sentences, with the labels in this order."""
    parser = parser_of(nlp)
    parser.keep_scores = True
    order = [parser.labels.index(label) - 1 for label in labels[1:]]
    kept = [doc._.g2g_scores["sentences"][0] for doc in nlp.pipe(treebank_docs(nlp.vocab))]
    return [{"arcs": of["arcs"], "labels": of["labels"][..., order]} for of in kept]


def arcs_of(sentence: ConlluSentence) -> list[tuple[int | None, str]]:
    return [(word.head, word.deprel) for word in sentence.words]


def test_trees_are_the_best_by_the_mean_of_the_parsers(gold: Path, tmp_path: Path):
    labels = list(parser_of(initialised_nlp()).labels)
    orders = [labels, [labels[0], *reversed(labels[1:])]]
    folders = [tmp_path / "first", tmp_path / "other"]
    pairs = enumerate(zip(orders, folders, strict=True))
    first, other = (scores_of(with_labels(order, i, folder), labels) for i, (order, folder) in pairs)
    ensemble.main([str(gold), str(tmp_path / "out.conllu"), *map(str, folders)])
    for sentence, one, two in zip(read_conllu(tmp_path / "out.conllu"), first, other, strict=True):
        arcs, of_arcs = ((one[key] + two[key]) / 2 for key in ("arcs", "labels"))
        tree = ArcScores(arcs, of_arcs).best()[0].tree
        assert arcs_of(sentence) == [
            (head, labels[label]) for head, label in zip(tree.heads, tree.labels, strict=True)
        ]
        assert not np.array_equal(tree.heads, ArcScores(**one).best()[0].tree.heads) or len(arcs) < 4


def test_parsers_with_other_labels_are_an_error(gold: Path, tmp_path: Path):
    folders = [tmp_path / "first", tmp_path / "other"]
    labels = list(parser_of(initialised_nlp()).labels)
    for i, folder in enumerate(folders):
        with_labels([*labels, *["more"] * i], i, folder)
    with pytest.raises(ValueError, match="other differs"):
        ensemble.main([str(gold), str(tmp_path / "out.conllu"), *map(str, folders)])
