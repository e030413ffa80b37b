"""`experiments.peers`: what needs no peer. Where a peer is trained, it is a script of a few lines."""

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from experiments.peers import __main__ as peers
from experiments.peers import environments
from experiments.peers.table import make_table, markdown
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row
from ..util import read_treebank
from .util import write_conllu

#: Peers that `spacy train` trains.
BY_CONFIG = ("spacy", "experimental", "g2g")
#: Attaches every word to the first, all with one label.
FAKE = """
from adapter import LoadedParser, main
from pathlib import Path

def train(job):
    if job["settings"].get("fails"):
        raise ValueError("no such encoder")
    Path(job["model"]).mkdir()
    Path(job["model"], "weights").write_bytes(b"12345")
    return {"steps": 7}

def load(job):
    def trees(words):
        return [[(0, "root"), *((1, job["settings"]["label"]) for _ in s[1:])] for s in words]
    return LoadedParser(lambda words: words, trees, 3_000_000)

if __name__ == "__main__":
    main(train, load, ["pip"])
"""


@pytest.fixture(scope="module")
def adapters() -> Iterator[tuple[ModuleType, ModuleType]]:
    """The modules that run in the peers' environments, where their folder is on the path."""
    names = ("adapter", "spacy_adapter")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(environments.ADAPTERS))
        yield importlib.import_module(names[0]), importlib.import_module(names[1])
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def adapter(adapters: tuple[ModuleType, ModuleType]) -> ModuleType:
    return adapters[0]


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """A folder with train.conllu, dev.conllu, test.conllu, and a checkpoint's config.json."""
    write_conllu(tmp_path / "train.conllu", read_treebank())
    write_conllu(tmp_path / "dev.conllu", read_treebank(), det="det:x")
    write_conllu(tmp_path / "test.conllu", read_treebank()[:4])
    (tmp_path / "config.json").write_text("{}", encoding="utf8")
    return tmp_path


def arguments(folder: Path, *more: str) -> list[str]:
    places = [str(folder / name) for name in ("train.conllu", "dev.conllu", "out")]
    return [*places, "--encoder", str(folder), *more]


def read(folder: Path, *more: str) -> argparse.Namespace:
    return peers.read_arguments(arguments(folder, *more))


# CoNLL-U


def test_prepared_sentences_have_words_and_trees_only(adapter: ModuleType, tmp_path: Path):
    source, target = tmp_path / "sample.conllu", tmp_path / "prepared.conllu"
    source.write_text(SAMPLE, encoding="utf8")
    peers.prepare(source, target)
    expected = [
        ([word.form for word in sentence.words], [(word.head, word.deprel) for word in sentence.words])
        for sentence in read_conllu(source)
    ]
    assert [tuple(sentence) for sentence in adapter.read_sentences(target)] == expected
    rows = [line.split("\t") for line in target.read_text(encoding="utf8").splitlines() if line]
    assert [cells[0] for cells in rows] == [str(i) for i in (*range(1, 10), 1, 1, 2, 3)]
    assert all(cells[2:6] == ["_"] * 4 and cells[8:] == ["_"] * 2 for cells in rows)


@pytest.mark.parametrize(
    ("n", "spread", "chosen"),
    [(0, False, range(10)), (3, False, range(3)), (3, True, (0, 3, 6)), (10, True, range(10))],
)
def test_first_sentences_are_prepared_or_those_spread_over_all(
    adapter: ModuleType, corpora: Path, n: int, spread: bool, chosen: list[int]
):
    peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu", n, spread=spread)
    words = [[word[0] for word in sentence] for sentence in read_treebank()]
    found = [sentence.words for sentence in adapter.read_sentences(corpora / "prepared.conllu")]
    assert found == [words[i] for i in chosen]


def test_too_few_sentences_and_incomplete_trees_are_errors(corpora: Path):
    with pytest.raises(SystemExit, match=r"has 10 sentences: expected at least the 11 asked for"):
        peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu", 11)
    source = corpora / "partial.conllu"
    source.write_text(row("1", "a", "_") + row("2", "b", "0") + "\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"partial\.conllu"):
        peers.prepare(source, corpora / "prepared.conllu")


def test_trees_are_filled_in_beside_multiword_tokens_and_empty_nodes(adapter: ModuleType, tmp_path: Path):
    gold, parsed, target = (tmp_path / f"{name}.conllu" for name in ("gold", "parsed", "target"))
    gold.write_text(SAMPLE, encoding="utf8")
    peers.prepare(gold, parsed)
    flat = [
        sentence._replace(tree=[(0, "root"), *((1, "dep:x") for _ in sentence.words[1:])])
        for sentence in adapter.read_sentences(parsed)
    ]
    adapter.write_sentences(parsed, flat)
    assert list(adapter.read_sentences(parsed)) == flat
    peers.fill_trees(gold, parsed, target)
    for sentence, expected in zip(read_conllu(target, trees="full"), flat, strict=True):
        assert [(word.head, word.deprel) for word in sentence.words] == expected.tree
    lines = zip(target.read_text(encoding="utf8").splitlines(), SAMPLE.splitlines(), strict=True)
    assert {line.split("\t")[0] for line, before in lines if line != before} <= set("23456789")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("missing", r"9 sentences, expected 10"),
        ("words", r"parsed\.conllu, line 1: expected the words of .*dev\.conllu, line 1"),
        ("roots", r"parsed\.conllu, line 2: several roots"),
    ],
)
def test_other_sentences_words_and_roots_are_refused(
    adapter: ModuleType, corpora: Path, change: str, message: str
):
    first, *rest = [adapter.Sentence([w[0] for w in s], [w[2:] for w in s]) for s in read_treebank()]
    changed = {"words": first._replace(words=["x"] * 5), "roots": first._replace(tree=[(0, "root")] * 5)}
    sentences = rest if change == "missing" else [changed[change], *rest]
    adapter.write_sentences(corpora / "parsed.conllu", sentences)
    with pytest.raises(peers.PeerError, match=message):
        peers.fill_trees(corpora / "dev.conllu", corpora / "parsed.conllu", corpora / "target.conllu")


@pytest.mark.slow
def test_scores_are_those_of_g2g_evaluate(corpora: Path):
    gold, system = corpora / "dev.conllu", corpora / "system.conllu"
    write_conllu(system, read_treebank(), det="dep", nsubj="obj")
    expected = evaluate_sentences(read_conllu(gold), read_conllu(system))
    try:
        found = peers.official_scores(gold, system)
    except SystemExit:
        pytest.skip("needs the command udeval of the package udtools")
    assert found == {m: round(100 * expected[m].f1, 2) for m in ("UAS", "LAS", "CLAS")}
    assert found["UAS"] > found["LAS"]


def test_f1_is_read_from_what_udeval_prints():
    numbers = {"Words": (100, 100, 100), "UAS": (81, 82, 81.5), "LAS": (71, 72, 71.5), "CLAS": (61, 62, 61.5)}
    rows = [f"{name:10} | {p:9.2f} | {r:9.2f} | {f:9.2f} |" for name, (p, r, f) in numbers.items()]
    text = "\n".join(["Metric     | Precision |    Recall |  F1 Score | AligndAcc", "-----------+---", *rows])
    assert peers.read_scores(text) == {"UAS": 81.5, "LAS": 71.5, "CLAS": 61.5}


# Adapters


def test_corpus_of_spacy_gives_gold_sentences_and_trees(
    adapters: tuple[ModuleType, ModuleType], corpora: Path
):
    adapter, spacy_adapter = adapters
    peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu")
    nlp = SimpleNamespace(vocab=Vocab())
    examples = list(spacy_adapter.make_corpus(corpora / "prepared.conllu")(nlp))
    sentences = list(adapter.read_sentences(corpora / "prepared.conllu"))
    assert [spacy_adapter.tree_of(example.reference) for example in examples] == [s.tree for s in sentences]
    for example in examples:
        assert len(list(example.predicted.sents)) == 1
        assert not example.predicted.has_annotation("DEP")
        assert "root" not in {token.dep_ for token in example.reference}
    # Further roots are attached to the first.
    doc = Doc(Vocab(), words=list("abcd"), heads=[1, 1, 3, 3], deps=["det", "ROOT", "det", "ROOT"])
    assert spacy_adapter.tree_of(doc) == [(2, "det"), (0, "root"), (4, "det"), (2, "parataxis")]


@pytest.mark.parametrize(
    ("name", "settings"), [(name, s) for name in BY_CONFIG for s in peers.PEERS[name].settings]
)
def test_configs_take_the_settings_and_decay_over_the_epochs(
    adapters: tuple[ModuleType, ModuleType], corpora: Path, name: str, settings: str
):
    peer = peers.PEERS[name]
    peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu")
    places = {name: str(corpora / "prepared.conllu") for name in ("train", "dev")}
    job = {"config": peer.config, "settings": peer.settings[settings], "epochs": 3, "seed": 5}
    config = adapters[1].make_config(job | places | {"encoder": str(corpora)})
    training = config.interpolate()["training"]
    assert (training["max_steps"], training["eval_frequency"], training["seed"]) == (3, 1, 5)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 3
    assert config["corpora"]["train"] == {"@readers": "peers.Corpus.v1", "path": "${paths.train}"}
    assert not load_config(str(peer.config))["training"]["batcher"]["discard_oversize"]
    for setting, value in peer.settings[settings].items():
        place: Any = config
        for part in setting.split("."):
            place = place[part]
        assert place == value


@pytest.mark.parametrize(
    ("lengths", "size", "expected"),
    [([], 5, 0), ([3], 5, 1), ([2, 3], 5, 1), ([3, 3], 5, 2), ([9, 1, 1], 5, 2), ([5, 5, 5], 5, 3)],
)
def test_batches_are_filled_up_to_their_size(
    adapter: ModuleType, lengths: list[int], size: int, expected: int
):
    assert adapter.count_filled(lengths, size) == expected


def test_adapters_import_nothing_of_ours_and_requirements_are_pinned():
    for path in environments.ADAPTERS.glob("*.py"):
        assert "spacy_g2g" not in path.read_text(encoding="utf8").replace("spacy_g2g.", ""), path
    for name in set(peers.PEERS) - {"g2g"}:
        path = environments.PEERS_FOLDER / "requirements" / f"{name}.txt"
        lines = path.read_text(encoding="utf8").splitlines()
        assert all("==" in line for line in lines if not line.startswith("#"))


def test_adapter_times_the_whole_file_after_a_warm_up(adapter: ModuleType, tmp_path: Path):
    sentences = [adapter.Sentence(["a", "b"], [(2, "x"), (0, "root")])] * 70
    adapter.write_sentences(tmp_path / "in.conllu", sentences)
    seen = []

    def parse(words: list[list[str]]) -> list[list[str]]:
        seen.append(words)
        return words

    def load(job: dict[str, Any]) -> Any:
        return adapter.LoadedParser(parse, lambda words: [[(0, "root"), (1, "y")] for _ in words], 12)

    job = {"input": tmp_path / "in.conllu", "output": tmp_path / "out.conllu", "runs": 4}
    result = adapter.run_parsing(job, load)
    assert [len(words) for words in seen] == [64, 70, 70, 70, 70]
    assert len(result["seconds"]) == len(result["cpu_seconds"]) == 4
    assert (result["words"], result["parameters"]) == (140, 12)
    assert [s.tree for s in adapter.read_sentences(tmp_path / "out.conllu")] == [[(0, "root"), (1, "y")]] * 70


# Environments


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be run from now on, none of which is."""
    seen: list[list[str]] = []

    def spy(command: list[str], log: Path, *_: Any) -> None:
        seen.append(command)
        if command[1:3] == ["-m", "venv"]:
            Path(command[3]).mkdir()
        if "fails" in str(log):
            raise environments.PeerError("no network")

    monkeypatch.setattr(environments, "run", spy)
    return seen


def test_an_environment_is_kept_until_it_is_finished_or_to_be_made_of_something_else(
    corpora: Path, commands: list[list[str]]
):
    args, folder = read(corpora, "--python", "python3.11"), corpora / "venvs" / "stanza"
    python = environments.make_environment("stanza", folder, args)
    assert python == folder / "bin" / "python"
    requirements = str(environments.PEERS_FOLDER / "requirements" / "stanza.txt")
    assert commands == [
        ["python3.11", "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--requirement", requirements],
    ]
    environments.make_environment("stanza", folder, args)
    assert len(commands) == 2
    args.python = "python3.12"
    environments.make_environment("stanza", folder, args)
    assert len(commands) == 4
    for n in (5, 6):
        with pytest.raises(peers.PeerError):
            environments.make_environment("supar", corpora / "fails" / "supar", args)
        assert len(commands) == n


def test_ours_is_installed_from_a_copy_and_anew_when_it_changed(corpora: Path, commands: list[list[str]]):
    source = corpora / "source"
    (source / "spacy_g2g").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", "spacy_g2g/a.py"):
        (source / name).write_text(name, encoding="utf8")
    args, folder = read(corpora, "--source", str(source)), corpora / "venvs" / "g2g"
    for n in (2, 2):
        environments.make_environment("g2g", folder, args)
        assert len(commands) == n
    constraint, built = commands[1][5:]
    assert (constraint, Path(built).is_relative_to(source)) == (str(source / "constraints.txt"), False)
    (source / "spacy_g2g" / "a.py").write_text("changed", encoding="utf8")
    environments.make_environment("g2g", folder, args)
    assert len(commands) == 4


@pytest.mark.slow
def test_a_failed_command_tells_its_last_lines(tmp_path: Path):
    code = "import sys; [print('line', i) for i in range(9)]; sys.exit(3)"
    with pytest.raises(peers.PeerError, match=r"exit status 3: line 4 / line 5 / line 6 / line 7 / line 8$"):
        peers.run([sys.executable, "-c", code], tmp_path / "log")
    with pytest.raises(peers.PeerError, match=r"took more than 0.1 seconds"):
        peers.run([sys.executable, "-c", "import time; time.sleep(9)"], tmp_path / "log", None, 0.1)
    with pytest.raises(peers.PeerError, match="no-such-python"):
        peers.run(["no-such-python"], tmp_path / "log")


# Everything, with peers of a few lines


@pytest.fixture
def faked(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with corpora, where scripts of a few lines take the place of parsers."""
    place = corpora / "adapters"
    place.mkdir()
    (place / "adapter.py").write_bytes((environments.ADAPTERS / "adapter.py").read_bytes())
    (place / "fake.py").write_text(FAKE, encoding="utf8")
    fakes = {
        "spacy": peers.Peer("Labels conj", "fake.py", {"own": {"label": "x"}, "shared": {"label": "conj"}}),
        "supar": peers.Peer("Breaks", "fake.py", {"shared": {"fails": True}}),
        "g2g": peers.Peer("Labels punct", "fake.py", {"shared": {"label": "punct"}}),
    }
    monkeypatch.setattr(peers, "PEERS", fakes)
    monkeypatch.setattr(peers, "ADAPTERS", place)
    monkeypatch.setattr(peers, "make_environment", lambda *_: Path(sys.executable))
    monkeypatch.setattr(peers, "official_scores", fake_scores)
    return corpora


def fake_scores(gold: Path, system: Path) -> dict[str, float]:
    scores = evaluate_sentences(read_conllu(gold), read_conllu(system))
    return {m: 100 * scores[m].f1 for m in ("UAS", "LAS", "CLAS")}


@pytest.mark.slow
def test_a_peer_that_fails_says_why_and_is_done_again_and_the_others_go_on(faked: Path, monkeypatch: Any):
    out, options = faked / "out" / "5x2", ["--sentences", "5", "--epochs", "2"]
    test = ["--settings", "own", "shared", "--test", str(faked / "test.conllu")]
    peers.main(arguments(faked, *options, *test))
    found, text = json.loads((out / "table.json").read_text()), (out / "table.md").read_text(encoding="utf8")
    assert list(found["rows"]) == ["spacy", "supar", "g2g"]
    assert found["rows"]["supar"]["dev"] is None
    assert "- Breaks **failed**: exit status 1: " in text
    assert "ValueError: no such encoder" in text
    spacy = found["rows"]["spacy"]
    assert (spacy["settings"], spacy["seeds"], list(spacy["tried"])) == ("shared", [0], ["own", "shared"])
    assert spacy["tried"]["own"]["dev"]["LAS"]["mean"] < spacy["dev"]["LAS"]["mean"]
    assert (spacy["parameters"], spacy["bytes"], spacy["steps"]) == (3_000_000, 5, 7)
    assert {"python", "pip"} == set(spacy["versions"])
    assert found["setup"]["hardware"]["threads"] == 1
    for part in ("dev", "test"):
        parsed = out / "g2g" / "shared" / "0" / f"{part}.conllu"
        las = fake_scores(faked / f"{part}.conllu", parsed)["LAS"]
        assert found["rows"]["g2g"][part]["LAS"]["values"] == [las]
        assert {word.deprel for s in read_conllu(parsed) for word in s.words} <= {"root", "punct"}

    logs = {path: path.stat().st_mtime_ns for path in out.rglob("*.log")}
    fixed = peers.Peer("Breaks", "fake.py", {"shared": {"label": "det"}})
    monkeypatch.setitem(peers.PEERS, "supar", fixed)
    peers.main(arguments(faked, *options))
    changed = {path for path in out.rglob("*.log") if path.stat().st_mtime_ns != logs.get(path)}
    assert changed == {out / "supar" / "shared" / "0" / f"{task}.log" for task in ("train", "dev")}
    found = json.loads((out / "table.json").read_text())
    assert found["rows"]["supar"]["dev"]["LAS"]["mean"] > 0
    assert "failed" not in (out / "table.md").read_text(encoding="utf8")
    peers.main(arguments(faked, *options, "--rows", "--again"))
    again = {path.name for path in logs if path.stat().st_mtime_ns != logs[path]}
    assert again == {"dev.log", "train.log"}


# The table


def known(las: float, seconds: float = 1.0, seed: int = 0, error: str | None = None) -> dict[str, Any]:
    scores = {"UAS": las + 2, "LAS": las, "CLAS": las - 3}
    facts = {"load": 0.5, "versions": {"torch": "2"}, "peak_mib": 512.0}
    parsed = {"scores": scores, "seconds": [seconds + 1, seconds], "cpu_seconds": [seconds / 2, seconds]}
    parsed |= {"words": 1000, "parameters": 23_000_000, **facts}
    trained = {"minutes": 6.0, "cpu_minutes": 5.0, "steps": 10, **facts}
    both = {"train": None, "dev": None} if error else {"train": trained, "dev": parsed}
    return {**both, "test": None, "seed": seed, "bytes": 91_000_000, "error": error}


HARDWARE = {"processor": "P", "cores": 2, "threads": 1}
SETUP = {"train": "train.conllu", "sentences": 2000, "epochs": 10, "dev": "dev.conllu", "test": None}
SETUP |= {"hardware": HARDWARE}
TITLES = {"spacy": "spaCy", "supar": "SuPar", "g2g": "ours"}


def test_best_settings_are_chosen_by_their_mean_over_seeds():
    las = {"own": (80.0, 90.0), "shared": (86.0, 86.0)}
    models = {("spacy", name, i): known(las[name][i], seed=i) for name in las for i in (0, 1)}
    rows = make_table(TITLES, models | {("supar", "shared", 0): known(0.0, error="no")}, SETUP)["rows"]
    assert list(rows) == ["spacy", "supar"]
    assert rows["spacy"]["settings"] == "shared"
    assert rows["spacy"]["tried"]["own"]["dev"]["LAS"] == {"mean": 85.0, "values": [80.0, 90.0]}
    assert rows["spacy"]["words_per_second"]["mean"] == 1000.0
    assert (rows["supar"]["dev"], rows["supar"]["errors"]) == (None, ["no"])


@pytest.mark.parametrize(
    ("las", "seconds", "scored", "timed"),
    [
        (86.0, 0.5, "met, +1.00", "met, 2.00"),
        (85.0, 1.0, "met, +0.00", "met, 1.00"),
        (84.5, 2.0, "**missed**, -0.50", "**missed**, 0.50"),
    ],
)
def test_bars_are_told_as_met_or_missed(las: float, seconds: float, scored: str, timed: str):
    models = {("spacy", "own", 0): known(80.0), ("supar", "shared", 0): known(85.0)}
    assert make_table(TITLES, models, SETUP)["bars"] == []
    bars = make_table(TITLES, models | {("g2g", "shared", 0): known(las, seconds)}, SETUP)["bars"]
    times = f"{timed} times its, {timed.split()[1]} times by processor time"
    assert [bar.split(": ")[1] for bar in bars] == [f"{scored} to SuPar", times]


def test_markdown_has_a_row_for_each_peer_and_what_failed_below():
    models = {
        ("spacy", "own", 0): known(80.0, seed=0),
        ("spacy", "own", 1): known(80.5, seed=1),
        ("supar", "shared", 0): known(0.0, error="exit status 1: no wheel"),
        ("g2g", "shared", 0): known(85.0, 0.25),
    }
    lines = markdown(make_table(TITLES, models, SETUP)).splitlines()
    assert lines[0] == "## train.conllu, 2,000 sentences, 10 epochs; scored on dev.conllu; P, 1 thread(s)"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    spacy, ours = (dict(zip(cells[0], row, strict=True)) for row in cells[2:4])
    assert (spacy[""], spacy["LAS"], ours["LAS"]) == ("spaCy", "80.25 (80.00, 80.50)", "85.00")
    shown = {"dev UAS": "87.00", "CLAS": "82.00", "words/s": "4,000", "settings": "shared"}
    shown |= {"parameters, million": "23.0", "on disk, MB": "91"}
    assert {heading: ours[heading] for heading in shown} == shown
    assert "test LAS" not in ours
    assert "- SuPar **failed**: exit status 1: no wheel" in lines
    assert [row[:2] for row in cells[6:]] == [["spaCy", "own"], ["SuPar", "shared"], ["ours", "shared"]]


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epochs", "0"], "--epochs 0: expected 1 or more"),
        (["--check-sentences", "-1"], "--check-sentences -1: expected 0 or more"),
        (["--rows", "malt"], "invalid choice: 'malt'"),
        (["--settings", "best"], "invalid choice: 'best'"),
        (["--test", "nothing.conllu"], "nothing.conllu: expected a CoNLL-U file"),
        (["--encoder", "nowhere"], "--encoder nowhere: expected a folder with config.json"),
    ],
)
def test_wrong_options_are_told(
    corpora: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
):
    with pytest.raises(SystemExit):
        read(corpora, *options)
    assert message in capsys.readouterr().err


def test_models_threads_and_gpu_are_those_asked_for(corpora: Path):
    args = read(corpora, "--rows", "supar", "g2g", "--settings", "own", "shared", "--seeds", "1", "2")
    every = [("supar", "own"), ("supar", "shared"), ("g2g", "shared")]
    assert peers.models(args, args.rows) == [(*model, seed) for seed in (1, 2) for model in every]
    assert peers.models(read(corpora, "--rows"), []) == []
    assert args.folder == corpora / "out" / "allx10"
    variables = peers.devices(read(corpora, "--threads", "3"))
    assert (variables["OMP_NUM_THREADS"], variables["CUDA_VISIBLE_DEVICES"]) == ("3", "-1")
    args = read(corpora, "--gpu", "2")
    assert peers.devices(args)["CUDA_VISIBLE_DEVICES"] == "2"
    assert peers.job_of("stanza", "shared", 0, args)["gpu"] == 0
