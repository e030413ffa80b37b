from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.util import load_config, load_model_from_config

from spacy_g2g import __version__
from spacy_g2g.training.callbacks import make_package_requirements, make_prepare_pipeline

from .test_incomplete_treebanks import CASES, LEARNERS, changed

MAJOR = int(__version__.split(".")[0])
LIGHT = Path(__file__).parents[2] / "configs/light.cfg"


@pytest.mark.parametrize(
    ("factory", "name"),
    [("amr_parser", "spacy-g2g[amr]"), ("g2g_parser", "spacy-g2g"), ("tagger", "spacy-g2g")],
)
def test_package_needs_the_extras_of_its_components(factory: str, name: str):
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, name="mine")
    nlp = make_package_requirements()(nlp)
    assert nlp.meta["requirements"] == [f"{name}>={__version__},<{MAJOR + 1}"]


def test_other_requirements_stay_and_ours_is_there_once():
    nlp = spacy.blank("xx")
    nlp.add_pipe("amr_parser")
    nlp.meta["requirements"] = ["other>=1", "spacy-g2g>=0.0.1"]
    callback = make_package_requirements()
    nlp = callback(callback(nlp))
    assert nlp.meta["requirements"] == ["other>=1", f"spacy-g2g[amr]>={__version__},<{MAJOR + 1}"]


def light(corpus: Path, **settings: Any) -> Language:
    """The pipeline of configs/light.cfg for a corpus, not initialized."""
    overrides = {"nlp.lang": "xx", "paths.train": str(corpus), **settings}
    return load_model_from_config(load_config(LIGHT, overrides=overrides), auto_fill=True)


@pytest.mark.parametrize("case", CASES)
def test_components_without_data_are_left_out_and_named_in_one_line(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    changes, left_out = CASES[case]
    nlp = make_prepare_pipeline()(light(changed(tmp_path / "train.conllu", changes)))
    assert LEARNERS - set(nlp.pipe_names) == left_out
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == bool(left_out)
    assert all(f"{name} (" in texts[0] for name in left_out)


def test_scores_and_names_of_what_is_left_out_are_gone_and_the_other_weights_make_up_for_them(tmp_path: Path):
    corpus = changed(tmp_path / "train.conllu", CASES["no XPOS"][0])
    nlp = make_prepare_pipeline()(
        light(corpus, **{"training.annotating_components": ["tagger", "g2g_parser"]})
    )
    training = nlp.config["training"]
    assert training["annotating_components"] == ["g2g_parser"]
    assert not any(name.startswith("tag_") for name in training["score_weights"])
    assert sum(filter(None, training["score_weights"].values())) == pytest.approx(1, abs=0.02)
    assert "tagger" not in nlp.config["components"]


def test_nothing_is_left_out_of_what_was_trained_before(tmp_path: Path):
    """spaCy disables components that are sourced or frozen, while it initializes the others."""
    nlp = light(changed(tmp_path / "train.conllu", CASES["no XPOS"][0]))
    with nlp.select_pipes(disable=["tagger"]):
        make_prepare_pipeline()(nlp)
    assert "tagger" in nlp.pipe_names


def test_a_splitter_is_left_out_where_there_are_no_multiword_tokens(tmp_path: Path):
    with_tokens, without = (tmp_path / name for name in ("with.conllu", "without.conllu"))
    changed(with_tokens, {})
    lines = with_tokens.read_text(encoding="utf8").splitlines(keepends=True)
    without.write_text("".join(line for line in lines if "-" not in line.split("\t")[0]), encoding="utf8")
    for path, expected in ((with_tokens, True), (without, False)):
        assert ("mwt_splitter" in make_prepare_pipeline()(light(path)).pipe_names) == expected


def test_a_tokenizer_of_another_kind_than_the_languages_is_taken(tmp_path: Path):
    settings = {"@tokenizers": "spacy_g2g.LearnedTokenizer.v1"}
    base = spacy.blank("xx", config={"nlp": {"tokenizer": settings}})
    base.tokenizer.train("ab" * 50, range(100))
    base.to_disk(tmp_path / "base")
    corpus = changed(tmp_path / "train.conllu", {})
    nlp = make_prepare_pipeline(str(tmp_path / "base"))(light(corpus))
    assert nlp.config["nlp"]["tokenizer"] == settings
    assert nlp.tokenizer.vocab is nlp.vocab
    assert [token.text for token in nlp.make_doc("baab")] == ["b", "a", "a", "b"]
