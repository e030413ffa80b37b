"""The configs of whole pipelines train, and take raw text to sentences, tags, lemmas and trees."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu

from ..models.test_sources import make_checkpoint
from ..util import forks

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu"
TEXT = "The girl saw the star with the telescope. It was late."
SMALL = {"model.arc_width": 24, "model.label_width": 16}
RATE = {"initial_rate": 0.003, "warmup_steps": 1}
REFINER = {f"components.rng_refiner.{name}": size for name, size in SMALL.items()}
PIPELINES = {
    "pipeline": REFINER,
    "pipeline_transformers": {
        "components.senter.model.model.tok2vec.encode.width": 16,
        "components.transformer.model.tokenizer_config.model_max_length": 20,
        **REFINER,
    },
    "pipeline_light": {"components.tok2vec.model.encode.width": 16},
}
# The checkpoint has few positions.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*G2G-(W402|W802|W803)")]


def train_config(config: str, corpus: Path, settings: dict[str, Any]) -> None:
    """Train with a config of the package, where parsers are small, beside the corpus."""
    overrides: dict[str, Any] = dict.fromkeys(("paths.train", "paths.dev"), str(corpus))
    overrides |= {f"components.g2g_parser.{name}": size for name, size in SMALL.items()}
    overrides |= {"training.logger.progress_bar": False, **settings}
    train(ROOT / "configs" / f"{config}.cfg", corpus.parent / "out", overrides=overrides)


@pytest.fixture(scope="module", params=PIPELINES)
def config(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def trained(config: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(config)
    docs = list(sentences_to_docs(read_conllu(SAMPLE), spacy.blank("xx").vocab, n_sents=2))[:20]
    DocBin(docs=docs, store_user_data=True).to_disk(folder / "corpus.spacy")
    settings = {"training.max_steps": 4, "training.eval_frequency": 2, **PIPELINES[config]}
    settings |= {f"training.optimizer.learn_rate.{name}": value for name, value in RATE.items()}
    train_config(
        config, folder / "corpus.spacy", {"paths.encoder": str(make_checkpoint(folder / "bert")), **settings}
    )
    return folder / "out" / "model-last"


@pytest.fixture(scope="module")
def nlp(trained: Path) -> Language:
    return spacy.load(trained)


def test_training_scores_all_that_the_pipeline_writes(nlp: Language):
    scores = nlp.meta["performance"]
    assert ("sents_f" in scores) == ("senter" in nlp.pipe_names)
    for name in ("tag_acc", "pos_acc", "morph_acc", "lemma_acc", "ud_las", "ud_sents_f"):
        assert 0.0 <= scores[name] <= 1.0
    assert scores["tag_acc"] > 0.1


def test_raw_text_gets_sentences_tags_lemmas_and_trees(nlp: Language):
    doc = nlp(TEXT)
    for annotation in ("SENT_START", "TAG", "POS", "LEMMA", "DEP", "HEAD"):
        assert doc.has_annotation(annotation)
    for sentence in doc.sents:
        assert sum(token.head == token for token in sentence) == 1
        assert all(token.head in sentence for token in sentence)


def test_boundaries_that_are_set_before_are_kept(nlp: Language):
    doc = nlp.make_doc(TEXT)
    for token in doc:
        token.is_sent_start = token.i in (0, 5)
    assert [sentence.start for sentence in nlp(doc).sents] == [0, 5]


@forks
def test_docs_in_several_processes_are_parsed_alike(nlp: Language):
    texts = [TEXT, "It was late.", "", "The star saw it."] * 2
    alone = [[(token.head.i, token.dep_) for token in nlp(text)] for text in texts]
    piped = [[(token.head.i, token.dep_) for token in doc] for doc in nlp.pipe(texts, batch_size=3)]
    assert piped == alone
    if "transformer" not in nlp.pipe_names:  # the tokenizers of transformers do not like to be forked
        forked = nlp.pipe(texts, n_process=2, batch_size=3)
        assert [[(token.head.i, token.dep_) for token in doc] for doc in forked] == alone


def test_it_continues_with_sentences_of_ones_own(trained: Path, tmp_path: Path):
    overrides = {"paths.base": str(trained), "paths.train": str(SAMPLE), "training.max_steps": 2}
    overrides["training.logger.progress_bar"] = False
    train(ROOT / "configs/adapt.cfg", tmp_path, overrides=overrides)
    adapted = spacy.load(tmp_path / "model-last")
    assert adapted.pipe_names == spacy.load(trained).pipe_names
    doc = adapted(TEXT)
    assert all(doc.has_annotation(annotation) for annotation in ("SENT_START", "TAG", "POS", "LEMMA", "DEP"))
