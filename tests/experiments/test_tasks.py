"""`experiments.tasks` trains the named components of a config on its encoder, and nothing else."""

from pathlib import Path

from experiments import tasks

from .util import write_corpora


def test_the_config_of_spacys_own_components_has_all_that_is_set(tmp_path: Path):
    write_corpora(tmp_path)
    paths = [str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "out")]
    (tmp_path / "out").mkdir()
    options = ["--encoder", "checkpoint", "--config", "experiments/spacy_pipeline.cfg"]
    config = tasks.make_config(tasks.read_arguments(["spacy", *paths, *options])).interpolate()
    assert config["nlp"]["pipeline"] == [*config["components"]]
    assert set(config["components"]) == {"transformer", "parser", *tasks.METRICS} - {"g2g_parser"}
    assert config["components"]["transformer"]["model"]["name"] == "checkpoint"


def test_what_is_not_named_is_left_out(tmp_path: Path):
    write_corpora(tmp_path)
    paths = [str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "out")]
    options = ["--encoder", "checkpoint", "--components", "tagger", "--steps", "20"]
    options += ["--set", "components.tagger.model.tok2vec.*.encoder.grad_factor=0.5"]
    (tmp_path / "out").mkdir()
    config = tasks.make_config(tasks.read_arguments(["one", *paths, *options])).interpolate()
    assert config["nlp"]["pipeline"] == [*config["components"]] == ["g2g_encoder", "g2g_layout", "tagger"]
    assert config["components"]["tagger"]["model"]["tok2vec"]["*"]["encoder"]["grad_factor"] == 0.5
    assert config["training"]["annotating_components"] == []
    assert (config["training"]["max_steps"], config["training"]["eval_frequency"]) == (20, 20)
    assert Path(config["paths"]["train"]).exists()
