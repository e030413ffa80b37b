"""`experiments/transition_table.py`: rows are the papers' systems, and are scored as `g2g evaluate` does."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import load_config, load_model_from_config, registry

from experiments import transition_table as script
from project import train as train_module
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.models.shim import get_shim

from ..models.test_encoder import make_checkpoint
from ..util import read_treebank
from .test_refinement_table import write_conllu

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARSER = "components.g2g_parser"
TINY = ["--scratch-width", "32", "--scratch-layers", "1", "--scratch-heads", "2"]
SETTINGS = ["training.logger.progress_bar=false", "training.optimizer.learn_rate.warmup_steps=2"]
SETTINGS += ["training.optimizer.learn_rate.initial_rate=0.01", "training.dropout=0.0"]
SENTENCE_ROWS = ["SentTr", "SentTr+G2GTr"]


def arguments(folder: Path, *more: str, start: str = "scratch", steps: int = 10) -> list[str]:
    places = [str(folder / name) for name in ("train.conllu", "dev.conllu", "out")]
    steps_ = ["--steps", str(steps), "--eval-frequency", str(steps)]
    return [*places, "--start", start, *TINY, *steps_, "--set", *SETTINGS, *more]


def write_corpora(folder: Path) -> None:
    """Ten sentences to score on, and the same twice to train on, but with other labels here and there."""
    write_conllu(folder / "train.conllu", read_treebank() * 2)
    write_conllu(folder / "dev.conllu", read_treebank(), det="det:x", punct="dep")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, and with two rows trained and scored."""
    folder = tmp_path_factory.mktemp("transitions")
    write_corpora(folder)
    script.main(arguments(folder, "--rows", *SENTENCE_ROWS))
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """The same, free to be changed."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rows that are trained from now on."""
    rows: list[str] = []
    original = train_module.spacy_train

    def spy(config: Path, output: Path, **kwargs: Any) -> None:
        rows.append("/".join(output.parts[-3:]).removesuffix(".unfinished"))
        original(config, output, **kwargs)

    monkeypatch.setattr(train_module, "spacy_train", spy)
    return rows


def table_of(folder: Path) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((folder / "out" / "table.json").read_text(encoding="utf8"))
    return dict(tables["dev.conllu"])


def markdown_rows(folder: Path) -> list[dict[str, str]]:
    """Cells by heading, of all tables."""
    lines = (folder / "out" / "table.md").read_text(encoding="utf8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(cells[0], row, strict=True)) for row in cells if row[0] not in ("row", "---")]


def counts_of(folder: Path, row: str) -> dict[str, Any]:
    path = folder / "out" / "0" / "scratch" / row / "counts.json"
    counts: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return counts


def config_of(folder: Path, name: str, *more: str, start: str = "scratch") -> dict[str, Any]:
    write_corpora(folder)
    args = script.read_arguments(arguments(folder, "--encoder", "bert", *more, start=start))
    config: dict[str, Any] = script.make_config(name, start, 3, args).interpolate()
    return config


def model_of(config: dict[str, Any]) -> dict[str, Any]:
    model: dict[str, Any] = config["components"]["g2g_parser"]["model"]
    return model


# Scores


@pytest.mark.parametrize("name", SENTENCE_ROWS)
def test_scores_are_those_of_evaluate(made: Path, name: str):
    folder = made / "out" / "0" / "scratch" / name
    expected = evaluate(str(folder / "model-best"), made / "dev.conllu")
    entry = table_of(made)["scratch"][name]
    assert 0.1 < entry["las"]["mean"] < entry["uas"]["mean"] <= 1
    for metric in ("UAS", "LAS"):
        score = expected[metric].f1
        assert entry[metric.lower()] == {"mean": score, "values": [score]}
        assert {row["row"]: row[metric] for row in markdown_rows(made)}[name] == f"{100 * score:.2f}"


def test_sent_tr_encodes_a_sentence_once_and_with_graph_input_once_an_arc(made: Path):
    counts = {name: counts_of(made, name) for name in SENTENCE_ROWS}
    lengths = [len(sentence) for sentence in read_treebank()]
    assert counts["SentTr"]["passes"] == len(lengths)
    assert counts["SentTr+G2GTr"]["passes"] == sum(lengths)
    # All sentences of a batch step together.
    assert counts["SentTr"]["calls"] < len(lengths)
    assert max(lengths) <= counts["SentTr+G2GTr"]["calls"] < sum(lengths)
    shown = {row["row"]: row["passes per word"] for row in markdown_rows(made)}
    assert shown == {"SentTr": f"{len(lengths) / sum(lengths):.3f}", "SentTr+G2GTr": "1.000"}


def test_times_and_parameters_are_told(made: Path):
    for name in SENTENCE_ROWS:
        counts, entry = counts_of(made, name), table_of(made)["scratch"][name]
        assert 0 < counts["encoder_seconds"] < counts["seconds"]
        assert entry["outside_encoder"]["mean"] == 1 - counts["encoder_seconds"] / counts["seconds"]
        assert 0 < entry["minutes"]["mean"] < 1
        nlp = spacy.load(made / "out" / "0" / "scratch" / name / "model-best")
        network = get_shim(nlp.get_pipe("g2g_parser").model).network
        assert entry["parameters"] == sum(p.numel() for p in network.parameters())


def test_a_watched_encoder_computes_the_same_and_is_left_as_it_was(made: Path):
    nlp = spacy.load(made / "out" / "0" / "scratch" / "SentTr" / "model-best")
    encoder = get_shim(nlp.get_pipe("g2g_parser").model).network.encoder.eval()
    before = dict(vars(encoder))
    x = encoder.embeddings.pieces.weight[None, :5]
    expected = encoder.encode(encoder.embed(x), None)
    with script.watch_encoder(encoder) as watch:
        found = encoder.encode(encoder.embed(x), None)
    assert (found == expected).all()
    assert (watch.calls, watch.rows) == (1, 1)
    assert vars(encoder) == before


def test_recall_on_non_projective_arcs(tmp_path: Path):
    sentences = read_treebank()
    # the arcs of "it" in the fourth sentence and of "at" in the ninth
    changes = {
        "gold": (sentences[3][5], sentences[8][4]),
        "subtype": (sentences[3][5], ("at", "ADP", 1, "case:x")),
        "label": (sentences[3][5], ("at", "ADP", 1, "mark")),
        "head": (("it", "PRON", 4, "nmod"), ("at", "ADP", 1, "mark")),
    }
    read = {}
    for name, (sentences[3][5], sentences[8][4]) in changes.items():
        write_conllu(tmp_path / f"{name}.conllu", sentences)
        read[name] = list(read_conllu(tmp_path / f"{name}.conllu"))
    found = {name: script.count_non_projective(read["gold"], system) for name, system in read.items()}
    names = ("non_projective", "non_projective_uas", "non_projective_las")
    assert {name: tuple(counts[n] for n in names) for name, counts in found.items()} == {
        "gold": (2, 2, 2),
        "subtype": (2, 2, 2),
        "label": (2, 2, 1),
        "head": (2, 1, 0),
    }


def test_recall_is_shown(made: Path):
    for name in SENTENCE_ROWS:
        counts, entry = counts_of(made, name), table_of(made)["scratch"][name]
        assert (counts["non_projective"], entry["non_projective"]) == (2, 2)
        for metric, heading in (
            ("non_projective_uas", "non-projective heads"),
            ("non_projective_las", "and labels"),
        ):
            assert entry[metric]["mean"] == counts[metric] / 2
            shown = {row["row"]: row[heading] for row in markdown_rows(made)}[name]
            assert shown == f"{100 * entry[metric]['mean']:.2f}"


def test_rows_are_compared_by_the_paired_bootstrap(made: Path):
    a, b = counts_of(made, "SentTr"), counts_of(made, "SentTr+G2GTr")
    expected = paired_bootstrap(a["las"], b["las"], a["words"], 10_000)
    table = table_of(made)["scratch"]
    assert table["SentTr"]["against"] == {"SynTr": None}
    found = table["SentTr+G2GTr"]["against"]["SentTr"]
    names = ("difference", "low", "high", "p_value")
    assert [found[name] for name in names] == [getattr(expected, name) for name in names]
    start = f"- SentTr+G2GTr to SentTr: {100 * expected.difference:+.2f} LAS, 95% interval "
    assert start in (made / "out" / "table.md").read_text(encoding="utf8")


def test_the_papers_figures_stand_beside_ours(copied: Path):
    for name in ("StateTr+G2GTr", "G2GTr"):
        source, target = (copied / "out" / "0" / start for start in ("scratch/SentTr", f"checkpoint/{name}"))
        shutil.copytree(source, target)
    script.main(arguments(copied, "--rows", "--layers", "7"))
    shown = {row["row"]: (row["paper's UAS"], row["paper's LAS (layers)"]) for row in markdown_rows(copied)}
    # StateTr+G2GTr has no figures for 7 layers: those for 6 are shown.
    assert shown == {
        "StateTr+G2GTr": ("95.58", "93.74 (6)"),
        "G2GTr": ("95.64", "93.81 (7)"),
        "SentTr": ("-", "-"),
        "SentTr+G2GTr": ("-", "-"),
    }
    text = (copied / "out" / "table.md").read_text(encoding="utf8")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## dev.conllu, from the checkpoint",
        "## dev.conllu, from scratch",
    ]


# Training


def test_what_is_trained_and_counted_is_kept(copied: Path, trained: list[str]):
    before = table_of(copied)
    script.main(arguments(copied, "--rows", *SENTENCE_ROWS))
    assert (trained, table_of(copied)) == ([], before)
    # the counts are enough for the table
    shutil.rmtree(copied / "out" / "0" / "scratch" / "SentTr" / "model-best")
    script.main(arguments(copied, "--rows"))
    assert (trained, table_of(copied)) == ([], before)


def test_counts_of_another_file_are_not_taken(copied: Path):
    write_conllu(copied / "dev.conllu", read_treebank()[:5])
    script.main(arguments(copied, "--rows"))
    assert table_of(copied)["scratch"]["SentTr"]["words"] == sum(map(len, read_treebank()[:5]))


@pytest.mark.parametrize(
    "more", [["--steps", "11"], ["--sentences", "7"], ["--set", f"{PARSER}.model.swap=false"]]
)
def test_other_settings_than_those_of_training_are_told(
    made: Path, capsys: pytest.CaptureFixture[str], more: list[str]
):
    script.main(arguments(made, "--rows", "SentTr", "--dry-run"))
    assert "other settings" not in " ".join(capsys.readouterr().out.split())
    script.main(arguments(made, "--rows", "SentTr", "--dry-run", *more))
    assert " ".join(capsys.readouterr().out.split()).count("other settings") == 1


def test_rows_train_from_the_first_layers_of_a_checkpoint_without_swap(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    make_checkpoint(tmp_path / "bert")
    options = ["--encoder", str(tmp_path / "bert"), "--layers", "2", "--seeds", "4", "--rows", "DepTr"]
    with pytest.warns(UserWarning, match="W504"):
        script.main(arguments(tmp_path, *options, start="checkpoint", steps=1))
    assert trained == ["4/checkpoint/DepTr"]
    nlp = spacy.load(tmp_path / "out" / "4" / "checkpoint" / "DepTr" / "model-best")
    assert len(get_shim(nlp.get_pipe("g2g_parser").model).network.encoder.layers) == 2


def test_a_dry_run_writes_nothing(made: Path, trained: list[str], capsys: pytest.CaptureFixture[str]):
    before = sorted((made / "out").rglob("*"))
    script.main(arguments(made, "--rows", "StateCLSTr", "--sentences", "3", "--dry-run"))
    assert 'output = "cls"' in capsys.readouterr().out
    assert (trained, sorted((made / "out").rglob("*"))) == ([], before)


def test_sentences_are_spread_evenly(tmp_path: Path):
    write_conllu(tmp_path / "all.conllu", read_treebank())
    all_sentences = [str(sentence) for sentence in read_conllu(tmp_path / "all.conllu")]
    for n, expected in {1: [0], 3: [0, 3, 6], 10: list(range(10))}.items():
        script.write_part(tmp_path / "all.conllu", tmp_path / "part.conllu", n)
        found = [str(sentence) for sentence in read_conllu(tmp_path / "part.conllu")]
        assert found == [all_sentences[i] for i in expected]


def test_rows_train_on_the_chosen_sentences(copied: Path, trained: list[str]):
    shutil.rmtree(copied / "out" / "0" / "scratch" / "SentTr")
    options = ["--sentences", "5", "--check-sentences", "2", "--rows", "SentTr"]
    script.main(arguments(copied, *options, steps=1))
    assert trained == ["0/scratch/SentTr"]
    paths = load_config(copied / "out" / "0" / "scratch" / "SentTr" / "train.cfg")["paths"]
    assert [len(list(read_conllu(paths[name]))) for name in ("train", "dev")] == [5, 2]
    # all of DEV is scored
    assert table_of(copied)["scratch"]["SentTr"]["words"] == sum(map(len, read_treebank()))


# Bad input


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--rows", "SentTr", "StateTr+X"], "'StateTr+X' (choose from"),
        (["--start", "nowhere"], "'nowhere' (choose from"),
        (["--start", "checkpoint"], "needs --encoder"),
        (["--sentences", "-1"], "--sentences -1: expected 0 or more"),
        (["--set", f"{PARSER}.model.depth=3"], f"no config has the setting {PARSER}.model.depth"),
        (["--set-scratch", "training.x=3"], "--set-scratch: no config has the setting training.x"),
    ],
)
def test_bad_arguments_are_told_before_training(
    made: Path,
    trained: list[str],
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    expected: str,
):
    with pytest.raises(SystemExit):
        script.main(arguments(made, "--seeds", "5", *more))
    assert expected in capsys.readouterr().err
    assert trained == []


def test_an_unknown_row_is_answered_with_those_there_are(made: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        script.main(arguments(made, "--rows", "Sent"))
    error = capsys.readouterr().err
    assert all(f"{name!r}" in error or f" {name}" in error for name in script.ROWS)


def test_files_are_looked_at_before_training(
    copied: Path, trained: list[str], capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit, match=r"train\.conllu has 20 sentences: expected at least the 21"):
        script.main(arguments(copied, "--seeds", "5", "--sentences", "21"))
    (copied / "dev.conllu").unlink()
    with pytest.raises(SystemExit):
        script.main(arguments(copied, "--seeds", "5"))
    assert "dev.conllu: expected a CoNLL-U file" in capsys.readouterr().err
    assert trained == []


def test_layers_above_the_checkpoints_are_told_before_training(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    make_checkpoint(tmp_path / "bert")
    options = ["--encoder", str(tmp_path / "bert"), "--layers", "4", "--start", "scratch", "checkpoint"]
    with pytest.raises(SystemExit, match="E214"):
        script.main(arguments(tmp_path, *options))
    assert trained == []


# Configs


def test_rows_have_the_values_of_the_papers(tmp_path: Path):
    columns = ("graph_input", "composition", "history", "output", "reads_buffer", "swap", "pieces")
    expected = {
        "DepTr": (False, False, None, "tokens", False, False, "mean"),
        "DepTr+H": (False, False, "actions", "tokens", False, False, "mean"),
        "DepTr+CH": (False, True, "actions", "tokens", False, False, "mean"),
        "G2CLSTr": (True, True, "actions", "cls", False, False, "mean"),
        "G2GTr": (True, True, "actions", "tokens", False, False, "mean"),
        "StateTr": (False, True, "labels", "tokens", True, True, "first"),
        "StateCLSTr": (False, True, "labels", "cls", True, True, "first"),
        "StateTr+G2GTr": (True, False, "labels", "tokens", True, True, "first"),
        "StateTr+G2CLSTr": (True, False, "labels", "cls", True, True, "first"),
        "StateTr+G2GTr+C": (True, True, "labels", "tokens", True, True, "first"),
    }
    models = {name: model_of(config_of(tmp_path, name)) for name in script.ROWS}
    found = {name: tuple(models[name][column] for column in columns) for name in expected}
    assert found == expected
    assert {models[name]["@architectures"] for name in expected} == {"spacy_g2g.StateTr.v1"}
    sentence = {name: models[name] for name in SENTENCE_ROWS}
    assert {model["@architectures"] for model in sentence.values()} == {"spacy_g2g.SentTr.v1"}
    assert [model["graph_input"] for model in sentence.values()] == [False, True]
    assert [model["swap"] for model in sentence.values()] == [True, True]
    assert models["SynTr"]["@architectures"] == "spacy_g2g.SynTr.v1"
    assert set(script.ROWS) == {*expected, *SENTENCE_ROWS, "SynTr", *STACK_ROWS}


#: Heads, positions, words that SHIFT names, layers of encoder and decoder.
STACK_ROWS = {
    "Stack-a": ([], False, 0, 6, 6),
    "Stack-b": ([], False, 100, 6, 6),
    "Stack-c": (["buffer", "stack"], False, 0, 6, 6),
    "Stack-d": (["buffer", "stack"], True, 0, 6, 6),
    "Stack-e": (["buffer"], False, 0, 6, 6),
    "Stack-f": (["stack"], False, 0, 6, 6),
    "Stack-g": (["buffer_top2"], False, 0, 6, 6),
    "Stack-h": (["stack_top2"], False, 0, 6, 6),
    "Stack-bh": (["stack_top2"], False, 100, 6, 6),
    "Stack-small-a": ([], False, 0, 2, 2),
    "Stack-small-b": ([], False, 100, 2, 2),
    "Stack-small-c": (["buffer", "stack"], False, 0, 2, 2),
}


def test_stack_transformers_have_the_values_of_the_paper(tmp_path: Path):
    columns = ("state_heads", "state_positions", "shift_labels", "n_encoder_layers", "n_layers")
    models = {name: model_of(config_of(tmp_path, name)) for name in STACK_ROWS}
    assert {name: tuple(model[column] for column in columns) for name, model in models.items()} == STACK_ROWS
    assert {model["@architectures"] for model in models.values()} == {"spacy_g2g.StackTransformer.v1"}


def test_a_stack_transformer_is_trained_and_its_mean_weights_are_scored(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    small = {"width": 32, "n_attention_heads": 4, "hidden_width": 64, "n_encoder_layers": 1, "n_layers": 1}
    sizes = [f"{PARSER}.model.{name}={size}" for name, size in small.items()]
    script.main(arguments(tmp_path, "--rows", "Stack-small-c", "--set", *sizes, steps=4))
    assert trained == ["0/scratch/Stack-small-c"]
    expected = evaluate(
        str(tmp_path / "out" / "0" / "scratch" / "Stack-small-c" / "model-last"), tmp_path / "dev.conllu"
    )
    assert table_of(tmp_path)["scratch"]["Stack-small-c"]["las"]["mean"] == expected["LAS"].f1


@pytest.mark.parametrize("start", ["checkpoint", "scratch"])
def test_every_row_makes_its_pipeline(tmp_path: Path, start: str):
    for name in script.ROWS:
        config = load_model_from_config(
            script.Config(config_of(tmp_path, name, start=start)), auto_fill=True
        ).config
        (source,) = config["initialize"]["components"].values()
        assert callable(registry.resolve(source)["encoder"])


def test_encoders_and_rates_are_those_of_the_start(tmp_path: Path):
    shipped = load_config(ROOT / "configs" / "syntr_scratch.cfg")
    for name in script.ROWS:
        scratch = config_of(tmp_path, name)
        encoder = {"width": 32, "hidden_width": 128, "n_layers": 1, "n_attention_heads": 2}
        assert model_of(scratch)["encoder"] == model_of(shipped)["encoder"] | encoder
        assert scratch["initialize"]["components"] == shipped["initialize"]["components"]
        config = config_of(
            tmp_path, name, "--layers", "5", "--encoder-rate-factor", "0.5", start="checkpoint"
        )
        assert config["initialize"]["components"]["g2g_parser"]["encoder"] == {
            "@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1",
            "name": "bert",
            "n_layers": 5,
        }
        assert model_of(config)["encoder_rate_factor"] == 0.5
    write_corpora(tmp_path)
    plain = [str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "out")]
    args = script.read_arguments([*plain, "--start", "scratch"])
    found = script.make_config("StateTr", "scratch", 0, args)["training"]
    assert found["dropout"] == shipped["training"]["dropout"]
    for rate in ("initial_rate", "warmup_steps"):
        expected = shipped["training"]["optimizer"]["learn_rate"][rate]
        assert found["optimizer"]["learn_rate"][rate] == expected


def test_settings_for_all_go_before_those_of_rows_that_have_them(tmp_path: Path):
    more = ["--set", f"{PARSER}.model.swap=true", "--set-scratch", "training.dropout=0.25"]
    for name in script.ROWS:
        for start, dropout in (("checkpoint", 0.0), ("scratch", 0.25)):
            config = config_of(tmp_path, name, *more, start=start)
            assert model_of(config).get("swap") == (None if name == "SynTr" else True)
            assert config["training"]["dropout"] == dropout


def test_steps_and_seed_are_those_asked_for(tmp_path: Path):
    write_corpora(tmp_path)
    plain = [str(tmp_path / name) for name in ("train.conllu", "dev.conllu", "out")]
    for steps, frequency, expected in (
        (0, 0, (2920, 292)),
        (70, 0, (70, 7)),
        (5, 0, (5, 5)),
        (70, 35, (70, 35)),
    ):
        options = ["--start", "scratch", "--steps", str(steps), "--eval-frequency", str(frequency)]
        args = script.read_arguments([*plain, *options])
        training = script.make_config("SentTr", "scratch", 3, args).interpolate()["training"]
        assert (training["max_steps"], training["eval_frequency"]) == expected
        assert training["optimizer"]["learn_rate"]["total_steps"] == training["max_steps"]
        assert training["seed"] == 3
