"""Configs of the tables' rows, and what is counted and compared, without training."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config

from experiments.table import __main__ as table
from experiments.table.configs import make_config
from experiments.table.report import compare
from experiments.table.scores import count
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.formats.conllu import read_conllu

from ..util import read_treebank
from .util import CONFIGS, SIZES, refinement, transition, write_conllu, write_corpora

pytestmark = pytest.mark.slow

PARSER_ROWS = table.TRANSITION.rows
#: Rows that refine a parser with an encoder of its own, and that parser.
REFINER_ROWS = [name for name, row in table.REFINEMENT.rows.items() if "whole" not in (name, row.base)]
MODEL = "components.g2g_parser.model"


def config_of(arguments: list[str], name: str) -> dict[str, Any]:
    """Return the interpolated config of a row, seed 3."""
    args = table.read_arguments([*arguments, "--seeds", "3", "4"])
    config: dict[str, Any] = make_config(args.table.rows[name], 3, args).interpolate()
    return config


def refined(folder: Path, name: str, *more: str) -> dict[str, Any]:
    write_corpora(folder)
    return config_of(refinement(folder, *more), name)


def parser(folder: Path, name: str, *more: str, start: str = "scratch") -> dict[str, Any]:
    write_corpora(folder)
    return config_of(transition(folder, "--encoder", "bert", *more, start=start), name)


def model_of(config: dict[str, Any]) -> dict[str, Any]:
    model: dict[str, Any] = config["components"]["g2g_parser"]["model"]
    return model


def shipped_refiner(name: str = "rngtr.cfg") -> dict[str, Any]:
    refiner: dict[str, Any] = load_config(CONFIGS / name)["components"]["rng_refiner"]
    small = {"arc_width": 24, "label_width": 16, "encoder_rate_factor": 1.0}
    return refiner | {"model": refiner["model"] | small}


# Refiners


def test_rows_differ_from_the_shipped_refiner_in_what_they_are_named_for(tmp_path: Path):
    refiners = {
        name: refined(tmp_path, name)["components"]["rng_refiner"] for name in REFINER_ROWS if name != "syntr"
    }
    shipped = shipped_refiner()
    corrupted = {"head_corruption": 0.12, "label_corruption": 0.06}
    assert refiners["rngtr"] == refiners["checkpoint"] == shipped
    assert refiners["corruption"] == shipped | corrupted != shipped
    assert refiners["other"] == shipped
    assert (
        refiners["control"]
        == refiners["other-control"]
        == shipped | {"model": shipped["model"] | {"graph_input": False}}
    )
    assert refiners["empty"] == refiners["empty-checkpoint"] == shipped_refiner("rngtr_empty.cfg")


def test_encoders_of_refiners_come_from_where_the_row_says(tmp_path: Path):
    checkpoint = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(tmp_path / "bert")}
    base = str(tmp_path / "out" / "3" / "syntr" / "model-best")
    for name in REFINER_ROWS:
        config = refined(tmp_path, name)
        (block,) = (component["encoder"] for component in config["initialize"]["components"].values())
        if name in ("syntr", "checkpoint", "empty-checkpoint"):
            assert checkpoint.items() <= block.items()
        else:
            start = base.replace("/3/", "/4/") if name.startswith("other") else base
            assert (block["@callbacks"], block["path"]) == ("spacy_g2g.EncoderFromPipeline.v1", start)
        source = config["components"].get("g2g_parser", {}).get("source")
        assert source == (base if "g2g_parser" in config["nlp"]["pipeline"] and name != "syntr" else None)


def test_a_whole_pipeline_is_refined_on_its_encoder_or_on_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = spacy.blank("en")
    listener = {"@architectures": "spacy_g2g.EncoderListener.v1"}
    whole.add_pipe("g2g_encoder")
    model = {"@architectures": "spacy_g2g.SynTr.v1", "tok2vec": listener}
    whole.add_pipe("g2g_parser", config={"model": model})
    monkeypatch.setattr(spacy, "load", lambda path: whole)
    for name, listens in (("shared", True), ("copy", False)):
        config = refined(tmp_path, name)
        assert config["nlp"]["pipeline"] == ["g2g_encoder", "g2g_parser", "rng_refiner"]
        assert (config["components"]["rng_refiner"]["model"]["tok2vec"] is not None) == listens
        assert config["paths"]["parser"] == str(tmp_path / "out" / "3" / "whole" / "model-best")
    assert "rng_refiner" not in refined(tmp_path, "whole")["nlp"]["pipeline"]


def test_steps_of_refiners_are_their_own(tmp_path: Path):
    more = ["--steps", "7", "--refiner-steps", "8", "--empty-steps", "0"]
    shipped = load_config(CONFIGS / "rngtr_empty.cfg")["training"]["max_steps"]
    for name in REFINER_ROWS:
        training = refined(tmp_path, name, *more)["training"]
        steps = {"syntr": 7, "empty": shipped, "empty-checkpoint": shipped}.get(name, 8)
        assert (training["max_steps"], training["optimizer"]["learn_rate"]["total_steps"]) == (steps, steps)
        assert training["seed"] == 3


def test_an_encoder_that_is_copied_has_a_rate_of_its_own(tmp_path: Path):
    more = ["--encoder-rate-factor", "0.1", "--copy-rate-factor", "0.03"]
    factors = {"syntr": 0.1, "checkpoint": 0.1, "empty-checkpoint": 0.1}
    for name in REFINER_ROWS:
        component = "g2g_parser" if name == "syntr" else "rng_refiner"
        model = refined(tmp_path, name, *more)["components"][component]["model"]
        assert model["encoder_rate_factor"] == factors.get(name, 0.03)


# Transition-based parsers


def expected_state_tr(name: str) -> dict[str, Any]:
    """Return the settings that the name of a system of 2019 or 2020 stands for."""
    with_graph, is_state = "G2" in name, name.startswith("State")
    by_kind = not with_graph and not name.endswith("-C") if is_state else with_graph or "C" in name
    composes = name.endswith("+C") or by_kind
    history = "labels" if is_state else "actions" if with_graph or "H" in name else None
    of_kind = {"reads_buffer": is_state, "swap": is_state, "pooling": "first" if is_state else "mean"}
    output = "cls" if "CLS" in name else "tokens"
    return {
        "graph_input": with_graph,
        "composition": composes,
        "history": history,
        "output": output,
    } | of_kind


#: What the heads of the stack-Transformer see, by the letter of its paper.
HEADS: dict[str, list[str]] = {"a": [], "b": [], "c": ["buffer", "stack"], "d": ["buffer", "stack"]}
HEADS |= {"e": ["buffer"], "f": ["stack"], "g": ["buffer_top2"], "h": ["stack_top2"]}


def expected_stack(name: str) -> dict[str, Any]:
    """Return the settings that the letters of a stack-Transformer stand for."""
    letters, layers = name.split("-")[-1], 2 if "small" in name else 6
    heads = {"state_heads": HEADS[letters[-1]], "state_positions": letters == "d"}
    return heads | {"shift_labels": 100 * ("b" in letters), "n_encoder_layers": layers, "n_layers": layers}


def test_rows_have_the_values_that_their_names_stand_for(tmp_path: Path):
    architectures = {"SynTr": "SynTr", "SentTr": "SentTr", "SentTr+G2GTr": "SentTr"}
    n_rows = {"SynTr": 0, "SentTr": 0, "StateTr": 0, "StackTransformer": 0}
    for name in PARSER_ROWS:
        model = model_of(parser(tmp_path, name))
        kind = architectures.get(name, "StackTransformer" if name.startswith("Stack") else "StateTr")
        n_rows[kind] += 1
        assert model["@architectures"] == f"spacy_g2g.{kind}.v1"
        expected: dict[str, Any] = {"graph_input": "G2" in name, "swap": True} if kind == "SentTr" else {}
        expected |= expected_state_tr(name) if kind == "StateTr" else {}
        expected |= expected_stack(name) if kind == "StackTransformer" else {}
        assert {setting: model[setting] for setting in expected} == expected, name
    assert n_rows == {"SynTr": 1, "SentTr": 2, "StateTr": 11, "StackTransformer": 12}


@pytest.mark.parametrize("start", ["checkpoint", "pipeline", "scratch"])
def test_every_row_makes_its_pipeline(tmp_path: Path, start: str):
    for name in PARSER_ROWS:
        config = Config(parser(tmp_path, name, start=start))
        filled = load_model_from_config(config, auto_fill=True).config
        (source,) = filled["initialize"]["components"].values()
        assert callable(registry.resolve(source)["encoder"])


def test_encoders_and_rates_are_those_of_the_start(tmp_path: Path):
    shipped = load_config(CONFIGS / "syntr_scratch.cfg")
    options = ["--layers", "5", "--encoder-rate-factor", "0.5"]
    for name in PARSER_ROWS:
        scratch = parser(tmp_path, name)
        expected = shipped["initialize"]["components"]["g2g_parser"]["encoder"] | SIZES
        assert scratch["initialize"]["components"] == {"g2g_parser": {"encoder": expected}}
        config = parser(tmp_path, name, *options, start="checkpoint")
        source = config["initialize"]["components"]["g2g_parser"]["encoder"]
        assert source["@callbacks"] == "spacy_g2g.EncoderFromCheckpoint.v1"
        assert (source["name"], source["n_layers"]) == ("bert", 5)
        assert model_of(config)["encoder_rate_factor"] == 0.5
        config = parser(tmp_path, name, *options, start="pipeline")
        source = config["initialize"]["components"]["g2g_parser"]["encoder"]
        assert source["@callbacks"] == "spacy_g2g.EncoderFromPipeline.v1"
        assert (source["path"], source["scorers"]) == ("bert", False)
        assert model_of(config)["encoder_rate_factor"] == 0.5


def plain(folder: Path, *more: str) -> list[str]:
    """Return arguments without settings."""
    write_corpora(folder)
    places = [str(folder / name) for name in ("train.conllu", "dev.conllu", "out")]
    return ["transition", *places, "--start", "scratch", *more]


def test_from_scratch_dropout_and_rates_are_those_of_the_shipped_config(tmp_path: Path):
    shipped = load_config(CONFIGS / "syntr_scratch.cfg")["training"]
    found = config_of(plain(tmp_path), "StateTr")["training"]
    assert found["dropout"] == shipped["dropout"]
    for rate in ("initial_rate", "warmup_steps"):
        expected = shipped["optimizer"]["learn_rate"][rate]
        assert found["optimizer"]["learn_rate"][rate] == expected


def test_settings_for_all_go_before_those_of_rows_that_have_them(tmp_path: Path):
    more = ["--set", f"{MODEL}.swap=true", "training.dropout=0.25"]
    for name in PARSER_ROWS:
        config = parser(tmp_path, name, *more)
        assert model_of(config).get("swap") == (None if name == "SynTr" else True)
        assert config["training"]["dropout"] == 0.25
    more = ["--set", "components.rng_refiner.head_corruption=0.5"]
    refiner = refined(tmp_path, "corruption", *more)["components"]["rng_refiner"]
    assert (refiner["head_corruption"], refiner["label_corruption"]) == (0.5, 0.06)


@pytest.mark.parametrize(
    ("steps", "frequency", "expected"),
    [(0, 0, (2920, 292)), (70, 0, (70, 7)), (5, 0, (5, 5)), (70, 35, (70, 35))],
)
def test_steps_and_seed_are_those_asked_for(
    tmp_path: Path, steps: int, frequency: int, expected: tuple[int, int]
):
    options = ["--steps", str(steps), "--eval-frequency", str(frequency)]
    training = config_of(plain(tmp_path, *options), "SentTr")["training"]
    assert (training["max_steps"], training["eval_frequency"]) == expected
    assert training["optimizer"]["learn_rate"]["total_steps"] == training["max_steps"]
    assert training["seed"] == 3


# Counts


def test_right_heads_labels_and_subtypes_are_counted_and_those_of_non_projective_arcs(tmp_path: Path):
    sentences = read_treebank()
    # The arcs of "it" in the fourth sentence and of "at" in the ninth.
    changes = {
        "gold": (sentences[3][5], sentences[8][4]),
        "subtype": (sentences[3][5], ("at", "ADP", 1, "case:x")),
        "label": (sentences[3][5], ("at", "ADP", 1, "obj")),
        "head": (("it", "PRON", 4, "nmod"), ("at", "ADP", 1, "obj")),
    }
    write_conllu(tmp_path / "gold.conllu", sentences)
    gold = list(read_conllu(tmp_path / "gold.conllu"))
    names = ("non_projective", "non_projective_uas", "non_projective_las")
    found, totals = {}, {}
    for name, (it, at) in changes.items():
        changed = [list(sentence) for sentence in sentences]
        changed[3][5], changed[8][4] = it, at
        write_conllu(tmp_path / "system.conllu", changed)
        counts = count(gold, read_conllu(tmp_path / "system.conllu", trees="any"))
        found[name] = tuple(counts[part] for part in names)
        totals[name] = tuple(sum(counts[metric]) for metric in ("uas", "las", "las_subtypes"))
    assert found == {"gold": (2, 2, 2), "subtype": (2, 2, 2), "label": (2, 2, 1), "head": (2, 1, 0)}
    n = sum(map(len, sentences))
    assert totals["gold"] == (n, n, n)
    assert totals["subtype"] == (n, n, n - 1)
    assert totals["label"] == (n, n - 1, n - 1)
    assert totals["head"] == (n - 1, n - 2, n - 2)


def test_other_words_are_not_counted(tmp_path: Path):
    write_conllu(tmp_path / "gold.conllu", read_treebank())
    gold = list(read_conllu(tmp_path / "gold.conllu"))
    with pytest.raises(SystemExit, match=r"gold\.conllu, line \d+: expected the words of .*line 1$"):
        count(gold[:1], gold[1:2])


def test_seeds_are_compared_together_where_both_systems_have_them():
    def counts(*right: int) -> dict[str, Any]:
        return {"words": [4, 6], "las": list(right)}

    system = {0: counts(3, 5), 1: counts(4, 5), 2: counts(4, 6)}
    found = compare(system, other={0: counts(2, 5), 1: counts(2, 6), 7: counts(0, 0)})
    expected = paired_bootstrap([4, 11], correct_b=[7, 10], totals=[8, 12])
    assert found is not None
    assert (found["seeds"], found["values"]) == ([0, 1], [0.1, 0.1])
    assert (found["difference"], found["p_value"]) == (0.1, expected.p_value)
    assert compare(system, other={7: counts(0, 0)}) is None


def test_the_parser_of_the_next_seed_needs_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_corpora(tmp_path)
    assert "other" not in table.read_arguments(refinement(tmp_path)).rows
    with pytest.raises(SystemExit):
        table.read_arguments(refinement(tmp_path, "--rows", "other"))
    assert "--seeds 0: expected two or more for the rows other" in capsys.readouterr().err
