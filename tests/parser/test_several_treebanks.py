"""`spacy train` on several treebanks: of several languages, and with their names as an input."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.sentences.augmenters import make_running_text

from ..formats.samples import row, shared_treebank
from ..util import TINY_MODEL, gold_doc

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[2] / "configs" / "syntr_scratch.cfg"
TREEBANKS = {
    "english": "UD_English-EWT/en_ewt-ud-dev.conllu",
    "turkish": "UD_Turkish-IMST/tr_imst-ud-dev.conllu",
    "korean": "UD_Korean-GSD/ko_gsd-ud-dev.conllu",
}
TEXTS = ["The girl saw the star.", "Kedi uyudu.", "소녀가 별을 보았다."]


def trained(folder: Path, corpus: Any, settings: dict[str, Any]) -> Language:
    """A pipeline that has been trained for 60 steps, and evaluated on what it has learned."""
    common = {
        "nlp.lang": "xx",
        "paths.train": corpus,
        "paths.dev": corpus,
        "training.max_steps": 60,
        "training.eval_frequency": 60,
        "training.dropout": 0.0,
        "training.logger.progress_bar": False,
        "training.optimizer.learn_rate.warmup_steps": 6,
        "training.optimizer.learn_rate.total_steps": 60,
    }
    train(CONFIG, folder, overrides=common | settings)
    return spacy.load(folder / "model-last")


def test_three_languages_share_an_encoder_and_are_scored_one_by_one(tmp_path: Path):
    paths = {name: str(shared_treebank(path)) for name, path in TREEBANKS.items()}
    settings = {
        "corpora.train.limit": 6,
        "corpora.train.weights": {"korean": 2.0},
        "corpora.dev.limit": 6,
        **{f"training.score_weights.ud_las_{name}": 0.1 for name in TREEBANKS},
    }
    nlp = trained(tmp_path, paths, settings)
    # The first sentences of each treebank, which it has learned.
    assert min(nlp.meta["performance"][f"ud_las_{name}"] for name in TREEBANKS) > 0.5
    for doc in nlp.pipe(TEXTS):
        assert doc.has_annotation("DEP")
        assert len(list(doc.sents)) == 1


def named_docs(vocab: Vocab, n: int) -> list[Doc]:
    """The same sentence in two treebanks that label one of its words in different ways."""
    docs = []
    for name, label in (("old", "obj"), ("new", "obl")) * n:
        rows = [("she", "X", 2, "nsubj"), ("saw", "X", 0, "root"), ("cats", "X", 2, label)]
        docs.append(gold_doc(vocab, [rows]))
        docs[-1].user_data["treebank"] = name
    return docs


@pytest.fixture(scope="module")
def knowing(tmp_path_factory: pytest.TempPathFactory) -> Language:
    """A pipeline that has learned both treebanks with their names."""
    folder = tmp_path_factory.mktemp("knowing")
    corpus = folder / "corpus.spacy"
    DocBin(docs=named_docs(spacy.blank("xx").vocab, 8), store_user_data=True).to_disk(corpus)
    settings = {f"training.score_weights.ud_las_{name}": 0.1 for name in ("old", "new")}
    settings |= {"components.g2g_parser.model.tag_attr": "treebank"}
    return trained(folder, str(corpus), settings)


def label_of_cats(nlp: Language, treebank: str = "") -> str:
    doc = Doc(nlp.vocab, words=["she", "saw", "cats"])
    if treebank:
        doc.user_data["treebank"] = treebank
    return nlp(doc)[2].dep_


def test_trees_follow_the_treebank_that_the_doc_names(knowing: Language):
    labels = [label_of_cats(knowing, name) for name in ("new", "old", "unknown", "")]
    assert labels == ["obl", "obj", "obj", "obj"]
    performance = knowing.meta["performance"]
    assert performance["ud_las_old"] == performance["ud_las_new"] == 1.0


def test_a_parser_is_told_its_treebank_and_keeps_it_on_disk(knowing: Language, tmp_path: Path):
    knowing.to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    parser = nlp.get_pipe("g2g_parser")
    assert parser.treebank == "old"
    parser.treebank = "new"
    assert label_of_cats(nlp) == "obl"
    nlp.to_disk(tmp_path)
    assert label_of_cats(spacy.load(tmp_path)) == "obl"
    with pytest.raises(ValueError, match=r"E826.*'gum'.*'new', 'old'"):
        parser.treebank = "gum"


def test_augmented_docs_keep_their_treebank(knowing: Language):
    (doc, _) = named_docs(knowing.vocab, 1)
    example = Example(unparsed_copy(doc, ["SENT_START"]), doc)
    (changed,) = make_running_text(drop_punct=0.0, lower_case=1.0)(knowing, example)
    assert changed.predicted is not example.predicted
    assert changed.predicted.user_data["treebank"] == changed.reference.user_data["treebank"] == "old"


def test_evaluate_follows_a_treebank(knowing: Language, tmp_path: Path):
    knowing.to_disk(tmp_path / "nlp")
    gold = tmp_path / "gold.conllu"
    rows = [("she", 2, "nsubj"), ("saw", 0, "root"), ("cats", 2, "obl")]
    lines = [row(str(i), form, str(head), label) for i, (form, head, label) in enumerate(rows, 1)]
    gold.write_text("".join(lines) + "\n", encoding="utf8")
    for name, las in (("", pytest.approx(2 / 3)), ("new", 1.0)):
        assert evaluate(str(tmp_path / "nlp"), gold, treebank=name, silent=True)["LAS"].f1 == las
    with pytest.raises(FileNotFoundError, match=r"E906.*nowhere\.conllu"):
        evaluate(str(tmp_path / "nlp"), tmp_path / "nowhere.conllu", silent=True)
    with pytest.raises(ValueError, match="E826"):
        evaluate(str(tmp_path / "nlp"), gold, treebank="gum", silent=True)


def test_a_parser_that_reads_names_needs_them():
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser", config={"model": {**TINY_MODEL, "tag_attr": "treebank"}})
    docs = [doc for doc in named_docs(nlp.vocab, 1) if not doc.user_data.clear()]
    with pytest.raises(ValueError, match="E825"):
        nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
