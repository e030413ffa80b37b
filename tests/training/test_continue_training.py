"""Training goes on from a pipeline: ``configs/adapt.cfg`` and its callback."""

from __future__ import annotations

import copy
from io import StringIO
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_g2g.data.corpus import TREEBANK_KEY
from spacy_g2g.debug_data.statistics import read_figures
from spacy_g2g.models.shim import get_shim
from spacy_g2g.training.continue_training import choose_steps, resize_softmax

from ..conftest import MakeOnce
from ..parser.test_g2g_encoder import OURS, rich_examples, shared_nlp
from ..util import TINY_MODEL, gold_doc, overfit, plain_doc, read_treebank, tree_of, treebank_docs

CONFIG = Path(__file__).parents[2] / "configs/adapt.cfg"
TAGGERS = ("tagger", "morphologizer", "trainable_lemmatizer")


@pytest.fixture(scope="session")
def base_folder(make_once: MakeOnce) -> Path:
    """A tiny pipeline of an encoder, components of spaCy, a parser and a refiner."""

    def fill(folder: Path) -> None:
        nlp = shared_nlp(*TAGGERS, "ner", "g2g_parser")
        model = {"@architectures": "spacy_g2g.RNGTr.v1", "tok2vec": OURS, **TINY_MODEL}
        nlp.add_pipe("rng_refiner", config={"model": model})
        examples = rich_examples(nlp)
        nlp.initialize(lambda: examples)
        overfit(nlp, examples, steps=30)
        nlp.config["training"]["annotating_components"] = ["g2g_parser"]
        nlp.config["training"]["optimizer"]["learn_rate"] = 0.004
        nlp.to_disk(folder)

    return make_once("base", fill)


def own_doc(vocab: Vocab) -> Doc:
    """The ten sentences with labels, tags, features and lemmas that the pipeline has not seen."""
    doc = gold_doc(vocab, read_treebank())
    for token in doc:
        token.lemma_ = token.text
        if token.pos_ == "NOUN":
            token.lemma_, token.tag_ = f"the-{token.text}", "NN"
            token.set_morph("Number=Sing")
            token.dep_ += ":own"
    return doc


def save(path: Path, *docs: Doc) -> str:
    DocBin(docs=docs).to_disk(path)
    return str(path)


def start(base: Path | str, corpus: str, **settings: Any) -> Language:
    """What ``spacy train configs/adapt.cfg`` begins with."""
    overrides = {"paths.base": str(base), "paths.train": corpus, "training.logger.progress_bar": False}
    return init_nlp(load_config(CONFIG, overrides=overrides | settings))


@pytest.fixture
def own(tmp_path: Path) -> str:
    return save(tmp_path / "own.spacy", own_doc(spacy.blank("en").vocab))


def annotations(doc: Doc) -> list[Any]:
    words = [(token.tag_, token.pos_, str(token.morph), token.lemma_) for token in doc]
    return [words, tree_of(doc), str(doc.ents)]


def test_weights_stay_and_labels_are_added(base_folder: Path, own: str):
    base, nlp = spacy.load(base_folder), start(base_folder, own)
    assert nlp.lang == nlp.config["nlp"]["lang"] == nlp.meta["lang"] == "en"
    assert nlp.pipe_names == base.pipe_names
    for doc, other in zip(
        base.pipe(treebank_docs(base.vocab)), nlp.pipe(treebank_docs(nlp.vocab)), strict=True
    ):
        # Scores of added labels of arcs start at zero, which may be the best of a tiny parser.
        assert annotations(doc)[::2] == annotations(other)[::2]
        assert [token.head.i for token in doc] == [token.head.i for token in other]
    for name in (*TAGGERS, "g2g_parser", "rng_refiner"):
        before, after = base.get_pipe(name).labels, nlp.get_pipe(name).labels  # type: ignore[attr-defined]
        assert after[: len(before)] == before
        assert len(after) > len(before)


@pytest.mark.slow
def test_new_labels_are_learned_and_saved(base_folder: Path, own: str, tmp_path: Path):
    settings = {"training.max_steps": 60, "training.optimizer.learn_rate.initial_rate": 0.005}
    nlp = start(base_folder, own, **settings)
    (tmp_path / "out").mkdir()
    train(nlp, tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    nlp = spacy.load(tmp_path / "out/model-last")
    gold = own_doc(nlp.vocab)
    found = nlp(plain_doc(nlp.vocab, *([word[0] for word in sentence] for sentence in read_treebank())))
    assert annotations(found)[:2] == annotations(gold)[:2]


def test_steps_rate_and_annotating_components_are_set_unless_they_are_given(base_folder: Path, own: str):
    training = start(base_folder, own).config["training"]
    assert training["max_steps"] == training["eval_frequency"] == 12
    rate = training["optimizer"]["learn_rate"]
    assert (rate["total_steps"], rate["warmup_steps"]) == (12, 1)
    assert rate["initial_rate"] == pytest.approx(0.3 * 0.004)
    assert training["annotating_components"] == ["g2g_parser"]
    given = {"max_steps": 7, "eval_frequency": 3, "optimizer.learn_rate.initial_rate": 0.5}
    training = start(base_folder, own, **{f"training.{k}": v for k, v in given.items()}).config["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (7, 3)
    assert training["optimizer"]["learn_rate"]["initial_rate"] == 0.5


def test_text_in_another_script_than_the_base_s_warns_and_is_learned_from(base_folder: Path, tmp_path: Path):
    sentences = [[("\u0434\u0430", *others) for _, *others in sentence] for sentence in read_treebank()]
    other = save(tmp_path / "other.spacy", gold_doc(spacy.blank("en").vocab, sentences))
    with pytest.warns(UserWarning, match=r"W402.* 100% of the words.*\['\u0434\u0430'\]"):
        nlp = start(base_folder, other, **{"training.max_steps": 1})
    train(nlp, stdout=StringIO(), stderr=StringIO())


def test_components_that_the_data_lack_keep_what_they_have_learned(
    base_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    doc = own_doc(spacy.blank("en").vocab)
    for token in doc:
        token.tag_ = token.lemma_ = ""
    settings = {"training.max_steps": 20, "training.eval_frequency": 20}
    nlp = start(base_folder, save(tmp_path / "own.spacy", doc), **settings)
    assert "['tagger', 'trainable_lemmatizer']" in "".join(record.getMessage() for record in caplog.records)
    base = spacy.load(base_folder)
    for name in ("tagger", "trainable_lemmatizer"):
        assert nlp.get_pipe(name).labels == base.get_pipe(name).labels  # type: ignore[attr-defined]
    train(nlp, stdout=StringIO(), stderr=StringIO())
    before, after = (
        [(token.tag_, token.lemma_) for doc in pipeline.pipe(treebank_docs(pipeline.vocab)) for token in doc]
        for pipeline in (base, nlp)
    )
    same = sum(map(eq, before, after))
    assert same > 0.9 * len(before)


def test_a_tag_may_begin_as_tags_that_words_do_not_have_did_in_the_base(base_folder: Path, tmp_path: Path):
    doc = own_doc(spacy.blank("en").vocab)
    doc[0].tag_ = "!"
    assert spacy.load(base_folder).get_pipe("tagger").cfg["neg_prefix"] == "!"  # type: ignore[attr-defined]
    nlp = start(base_folder, save(tmp_path / "own.spacy", doc))
    losses = nlp.update([Example(doc.copy(), doc)])
    assert losses["tagger"] > 0


def with_rate(base: Path, rate: Any, folder: Path, **training: Any) -> Path:
    nlp = spacy.load(base)
    nlp.config["training"] |= training
    nlp.config["training"]["optimizer"]["learn_rate"] = rate
    nlp.to_disk(folder)
    return folder


def schedule(name: str, **settings: Any) -> dict[str, Any]:
    return {"@schedules": f"{name}.v1", **settings}


@spacy.registry.schedules("test_falling.v1")
def falling(values: list[float]) -> Any:
    """A schedule of a user, which ends."""
    return iter(values)


@pytest.mark.parametrize(
    ("rate", "training"),
    [
        (0.004, {}),
        ([0.001, 0.004, 0.002], {}),
        (schedule("constant", rate=0.004), {}),
        (schedule("constant_then", rate=0.001, steps=2, schedule=schedule("constant", rate=0.004)), {}),
        (schedule("decaying", base_rate=0.004, decay=0.1), {}),
        (schedule("compounding", start=0.001, stop=0.004, compound=1.1), {}),
        (schedule("warmup_linear", initial_rate=0.004, warmup_steps=10, total_steps=100), {}),
        (schedule("slanted_triangular", max_rate=0.004, num_steps=100), {}),
        (schedule("cyclic_triangular", min_lr=0.001, max_lr=0.004, period=10), {}),
        (schedule("test_falling", values=[0.004, 0.002]), {}),
        # Only the steps that the base was trained for count.
        (schedule("compounding", start=0.001, stop=1.0, compound=2.0), {"max_steps": 3}),
    ],
    ids=str,
)
def test_the_rate_is_a_share_of_the_largest_of_any_schedule(
    base_folder: Path, own: str, tmp_path: Path, rate: Any, training: dict[str, int]
):
    base = with_rate(base_folder, rate, tmp_path / "base", **training)
    chosen = start(base, own).config["training"]["optimizer"]["learn_rate"]["initial_rate"]
    assert chosen == pytest.approx(0.3 * 0.004, rel=None if training else 0.02)


@pytest.mark.parametrize(
    ("rate", "found"),
    [
        (-1.0, "continue from is -1.0"),
        (0.0, "continue from is 0.0"),
        (schedule("nowhere"), "continue from is unknown .*nowhere"),
    ],
)
def test_a_rate_that_teaches_nothing_or_is_unknown_is_an_error_unless_one_is_given(
    base_folder: Path, own: str, tmp_path: Path, rate: Any, found: str
):
    base = with_rate(base_folder, rate, tmp_path / "base")
    with pytest.raises(ValueError, match=f"(?s)E755.*{found}.*learn_rate.initial_rate"):
        start(base, own)
    start(base, own, **{"training.optimizer.learn_rate.initial_rate": 0.001})


@pytest.mark.parametrize("rate", [-0.001, schedule("constant", rate=0.0)], ids=str)
def test_a_given_rate_that_is_not_above_0_is_an_error(base_folder: Path, own: str, rate: Any):
    config = load_config(CONFIG, overrides={"paths.base": str(base_folder), "paths.train": own})
    config["training"]["optimizer"]["learn_rate"] = rate
    with pytest.raises(ValueError, match=r"E755.*this training is"):
        init_nlp(config)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"paths.base": ""}, "E705"),
        ({"paths.train": "EMPTY"}, "E707"),
        ({"paths.train": "EMPTY", "training.max_steps": 5}, "E707"),
        ({"paths.train": "EMPTY", "training.max_steps": 5, "paths.replay": "OWN"}, "E707"),
        ({"paths.train": "HEADLESS"}, "E707"),
        ({"initialize.after_init.rate_share": -1.0}, "E755.*rate_share is -1.0"),
        ({"initialize.after_init.rate_share": 0.0}, "E755.*rate_share is 0.0"),
    ],
    ids=str,
)
def test_settings_that_teach_nothing_are_errors(
    base_folder: Path, own: str, tmp_path: Path, settings: dict[str, Any], error: str
):
    words = [[word[0] for word in sentence] for sentence in read_treebank()]
    files = {
        "OWN": own,
        "EMPTY": save(tmp_path / "empty.spacy"),
        "HEADLESS": save(tmp_path / "headless.spacy", plain_doc(spacy.blank("en").vocab, *words)),
    }
    with pytest.raises(ValueError, match=error):
        start(base_folder, own, **{name: files.get(value, value) for name, value in settings.items()})


def test_debug_data_counts_what_the_parsers_of_the_base_would_see(base_folder: Path, own: str):
    overrides = {"paths.base": str(base_folder), "paths.train": own}
    report = read_figures(load_config(CONFIG, overrides=overrides))
    assert report["components"].keys() == {"g2g_parser", "rng_refiner"}
    assert report["train"]["sentences"] == 10


def test_the_rate_stays_when_a_pipeline_is_continued_again(base_folder: Path, own: str, tmp_path: Path):
    first = start(base_folder, own)
    first.to_disk(tmp_path / "first")
    second = start(tmp_path / "first", own)
    settings = [nlp.config["training"]["optimizer"]["learn_rate"] for nlp in (first, second)]
    assert settings[0]["initial_rate"] == settings[1]["initial_rate"]


def test_a_parser_with_an_encoder_of_its_own_is_continued(trained_folder: Path, own: str, tmp_path: Path):
    base = spacy.load(trained_folder)
    nlp = start(trained_folder, own)
    before, after = (get_shim(n.get_pipe("g2g_parser").model).network for n in (base, nlp))  # type: ignore[attr-defined]
    weights = after.state_dict()
    for name, weight in before.state_dict().items():
        if "label_weight" not in name:
            torch.testing.assert_close(weights[name], weight)


def examples_of(**docs: Doc) -> list[Example]:
    for name, doc in docs.items():
        doc.user_data[TREEBANK_KEY] = name
    return [Example(doc.copy(), doc) for doc in docs.values()]


def test_steps_follow_the_sentences_with_a_head_and_replayed_ones_come_on_top():
    vocab = Vocab()
    own, replay = (gold_doc(vocab, read_treebank()) for _ in range(2))
    examples = examples_of(own=own, replay=replay)
    assert choose_steps(examples[:1]) == 12
    assert choose_steps(examples) == choose_steps([*examples, *examples]) == 23
    plain = examples_of(own=plain_doc(vocab, ["Nobody", "looked"]))
    assert choose_steps([*examples[:1], *plain]) == 12


def test_a_pipeline_without_a_parser_is_an_error(own: str, tmp_path: Path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "base")
    with pytest.raises(ValueError, match=r"E706.*sentencizer"):
        start(tmp_path / "base", own)


def test_many_unknown_labels_are_warned_of(base_folder: Path, tmp_path: Path):
    doc = own_doc(spacy.blank("en").vocab)
    for token in doc:
        token.dep_ = f"{token.dep_}:other"
    with pytest.warns(UserWarning, match=r"W701.*100%.*det:other"):
        start(base_folder, save(tmp_path / "other.spacy", doc))


def test_added_classes_have_the_mean_score(base_folder: Path):
    tagger: Any = spacy.load(base_folder).get_pipe("tagger")
    model, n = copy.deepcopy(tagger.model), len(tagger.labels)
    vectors = np.random.default_rng(0).normal(size=(5, 32)).astype("f")
    resize_softmax(model, n + 2)
    before, after = (m.get_ref("output_layer").predict(vectors) for m in (tagger.model, model))
    np.testing.assert_allclose(after[:, :n], before, rtol=1e-5)
    np.testing.assert_allclose(after[:, n:], before.mean(axis=1, keepdims=True).repeat(2, 1), rtol=1e-4)
    assert model.get_dim("nO") == n + 2
