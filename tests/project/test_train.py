"""`project/train.py`: the steps, the encoder that is named, and a refiner on top of any trained pipeline."""

import shutil
from pathlib import Path

import pytest
import spacy
from spacy.lang.ko import Korean
from spacy.tokenizer import Tokenizer
from spacy.util import load_config, load_model_from_config
from thinc.api import Config

from project import train, training_config
from spacy_g2g.formats.conllu import read_conllu

from ..util import TINY_MODEL
from .test_workflows import git

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"
BERT = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": "bert", "vocabulary": "training"}


@pytest.mark.parametrize("steps", [1, 7, 10, 11, 105, 1234])
def test_the_last_step_is_evaluated(steps: int):
    path = CONFIGS / "syntr_pretrained.cfg"
    config = training_config.pipeline_config(path, training_config.step_settings(load_config(path), steps))
    training, rate = config["training"], config["training"]["optimizer"]["learn_rate"]
    assert steps <= training["max_steps"] < steps + 10
    assert training["max_steps"] % training["eval_frequency"] == 0
    assert training["max_steps"] // training["eval_frequency"] <= 10
    assert rate["total_steps"] == training["max_steps"]
    assert rate["warmup_steps"] == min(50, training["max_steps"] // 10)


def test_without_steps_the_configs_are_left():
    assert training_config.step_settings(load_config(CONFIGS / "rngtr.cfg"), 0) == {}


def test_a_rate_without_steps_is_left_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    config = load_config(CONFIGS / "test" / "syntr_tiny.cfg")
    config["training"]["optimizer"]["learn_rate"] = 0.001
    config.to_disk(tmp_path / "own.cfg", interpolate=False)
    made = training_config.pipeline_config(tmp_path / "own.cfg", training_config.step_settings(config, 20))
    assert made["training"]["optimizer"]["learn_rate"] == 0.001
    assert made["training"]["max_steps"] == 20
    assert "no training.optimizer.learn_rate.total_steps" in " ".join(capsys.readouterr().out.split())


def test_settings_of_the_config_can_be_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    command = ["train.py", "train.spacy", "dev.spacy", "out", "--training.dropout", "0.25", "--steps", "5"]
    monkeypatch.setattr("sys.argv", command)
    assert train.read_arguments().settings == {"training.dropout": 0.25}
    monkeypatch.setattr("sys.argv", [*command, "--stepz", "6"])
    with pytest.raises(SystemExit):
        train.read_arguments()
    assert "stepz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "encoder", "expected"),
    [
        ("pipeline.cfg", "", "bert-base-cased"),
        ("pipeline.cfg", "bert-base-chinese", "bert-base-chinese"),
        ("syntr_scratch.cfg", "bert-base-multilingual-cased", ""),
    ],
)
def test_the_encoder_is_the_one_that_the_config_uses(config: str, encoder: str, expected: str):
    assert training_config.used_encoder(load_config(CONFIGS / config), encoder) == expected


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.cfg")), ids=lambda path: path.stem)
def test_an_epoch_is_counted_with_every_config_as_it_is(path: Path):
    corpus = ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu"
    counts = train.count_corpus(corpus, load_config(path), "en")
    assert counts["sentences"] > counts["batches"] > 1


@pytest.mark.slow
def test_the_commit_is_the_projects_not_that_of_a_repository_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for folder in (tmp_path / "configs", tmp_path / "project" / "configs"):
        folder.mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "First")
    monkeypatch.setattr(train, "CONFIGS", tmp_path / "configs")
    assert len(train.versions()["commit"]) == 12
    monkeypatch.setattr(train, "CONFIGS", tmp_path / "project" / "configs")
    assert "commit" not in train.versions()


def refiner() -> Config:
    return load_config(CONFIGS / "rngtr.cfg")


def encoder_of(config: Config) -> dict[str, str]:
    encoder: dict[str, str] = config["initialize"]["components"]["rng_refiner"]["encoder"]
    return encoder


def test_a_trained_parser_is_calibrated_on_the_development_corpus(trained_folder: Path, tmp_path: Path):
    folder = tmp_path / "model"
    shutil.copytree(trained_folder, folder)
    config = load_config(CONFIGS / "syntr_pretrained.cfg")
    sample = read_conllu(ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu")
    short = [str(sentence) for sentence in sample if len(sentence.words) < 8]
    config["paths"]["dev"] = str(tmp_path / "dev.conllu")
    (tmp_path / "dev.conllu").write_text("".join(short), encoding="utf8")
    before = spacy.load(folder).get_pipe("g2g_parser")
    train.calibrate(folder, config)
    after = spacy.load(folder).get_pipe("g2g_parser")
    assert before.temperatures == (1, 1)
    assert min(after.temperatures) > 1


def test_a_refiner_keeps_all_components_of_the_pipeline(trained_folder: Path):
    nlp = spacy.load(trained_folder)
    nlp.rename_pipe("g2g_parser", "mine")
    nlp.add_pipe("sentencizer", first=True)
    config = training_config.refiner_config(refiner(), nlp, "")
    assert config["nlp"]["pipeline"] == ["sentencizer", "mine", "rng_refiner"]
    assert config["components"]["mine"] == {"source": "${paths.parser}"}
    training = config["training"]
    assert training["frozen_components"] == training["annotating_components"] == ["sentencizer", "mine"]
    assert training["before_update"]["components"] == ["mine"]
    encoder = encoder_of(config)
    assert (encoder["@callbacks"], encoder["component"]) == ("spacy_g2g.EncoderFromPipeline.v1", "mine")


def test_a_refiner_keeps_the_tokenizer_of_the_pipeline(trained_folder: Path):
    nlp = spacy.load(trained_folder)
    nlp.config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_g2g.LearnedTokenizer.v1"}
    config = training_config.refiner_config(refiner(), nlp, "")
    assert config["nlp"]["tokenizer"] == nlp.config["nlp"]["tokenizer"]
    before_init = config["initialize"]["before_init"]
    assert before_init["@callbacks"] == "spacy.copy_from_base_model.v1"
    assert before_init["tokenizer"] == "${paths.parser}"


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ("", {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}),
        ("bert", BERT),
    ],
)
def test_on_spacys_parser_a_refiner_has_an_encoder_of_its_own(encoder: str, expected: dict[str, str]):
    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    config = training_config.refiner_config(refiner(), nlp, encoder)
    assert encoder_of(config) == expected
    assert config["training"]["before_update"]["components"] == ["parser"]


@pytest.mark.parametrize("shares", [True, False])
def test_a_refiner_of_a_whole_pipeline_listens_to_its_encoder_or_copies_it(shares: bool):
    nlp = spacy.blank("en")
    listener = {"@architectures": "spacy_g2g.EncoderListener.v1"}
    nlp.add_pipe("g2g_encoder")
    nlp.add_pipe(
        "g2g_parser", config={"model": {"@architectures": "spacy_g2g.SynTr.v1", "tok2vec": listener}}
    )
    config = training_config.refiner_config(refiner(), nlp, "", shares=shares)
    assert encoder_of(config)["component"] == "g2g_parser"
    assert (
        training_config.refiner_encoder(config, "nowhere/model", encoder="")
        == "the parser's, which was not noted"
    )
    assert config["training"]["frozen_components"] == ["g2g_encoder", "g2g_parser"]
    built = spacy.blank("en").add_pipe(
        "rng_refiner", config={"model": config["components"]["rng_refiner"]["model"]}
    )
    assert built.model.has_ref("tok2vec") == shares


def test_an_encoder_of_another_library_is_not_copied():
    nlp = spacy.blank("en")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    model = {"@architectures": "spacy_g2g.SynTr.v1", "tok2vec": listener, **TINY_MODEL}
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("g2g_parser", config={"model": model})
    config = training_config.refiner_config(refiner(), nlp, "bert")
    assert encoder_of(config) == BERT
    assert training_config.refiner_encoder(config, "parser", encoder="bert") == "bert"
    config = training_config.refiner_config(refiner(), nlp, "")
    assert encoder_of(config) == {"@callbacks": "spacy_g2g.EncoderFromScratch.v1"}
    assert training_config.refiner_encoder(config, "parser", encoder="bert") == ""


def test_a_pipeline_with_a_refiner_is_an_error(trained_refiner_folder: Path):
    nlp = spacy.load(trained_refiner_folder)
    with pytest.raises(SystemExit, match=r"'rng_refiner'.* a refiner among them"):
        training_config.refiner_config(refiner(), nlp, "")
    nlp.rename_pipe("rng_refiner", "mine")
    with pytest.raises(SystemExit, match=r"'mine'.* a refiner among them"):
        training_config.refiner_config(refiner(), nlp, "")


def test_a_pipeline_without_a_parser_is_an_error():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    with pytest.raises(SystemExit, match="sentencizer"):
        training_config.refiner_config(refiner(), nlp, "")


def test_epochs_are_turned_into_steps():
    steps = training_config.choose_steps
    assert steps(0, 10, 292) == 2920
    assert steps(20, 10, 292) == 20
    assert steps(0, 0, 292) == 0
    assert steps(0, 0.001, 292) == 1


@pytest.mark.parametrize("name", ["pipeline.cfg", "pipeline_scratch.cfg"])
@pytest.mark.parametrize("lang", ["ja", "th", "zh", "he", "hi"])
def test_a_whole_pipeline_of_each_language_can_be_made(name: str, lang: str):
    """Japanese has a morphologizer of its own, with fewer settings."""
    config = training_config.pipeline_config(CONFIGS / name, training_config.overrides("", lang=lang))
    components = {key: config["components"][key] for key in ("tagger", "morphologizer")}
    nlp = load_model_from_config(
        Config({"nlp": {**config["nlp"], "pipeline": [*components]}, "components": components}),
        auto_fill=True,
    )
    assert (nlp.lang, nlp.pipe_names) == (lang, ["tagger", "morphologizer"])


@pytest.mark.parametrize("config", ["syntr_scratch.cfg", "pipeline.cfg"])
def test_korean_is_trained_with_a_tokenizer_by_rules(config: str):
    """spaCy's own for Korean needs another package, and cuts words into parts."""
    settings = training_config.overrides("", lang="ko")
    nlp_settings = training_config.pipeline_config(CONFIGS / config, settings)["nlp"]
    nlp = Korean.from_config({"nlp": {**nlp_settings, "pipeline": []}})
    assert (nlp.lang, type(nlp.tokenizer)) == ("ko", Tokenizer)
