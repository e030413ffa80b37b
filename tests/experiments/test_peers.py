"""`experiments/peers`: what needs no peer. Where one is trained, it is a script of a few lines."""

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

from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row
from ..util import read_treebank
from .util import write_conllu

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "experiments" / "peers"
ADAPTERS = PEERS / "adapters"
MODULES = ("adapter", "spacy_adapter")

#: Attaches every word to the first, all with one label.
FAKE = """
from adapter import LoadedParser, main
from pathlib import Path

def train(job):
    print("training", job["settings"])
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
def modules() -> Iterator[dict[str, ModuleType]]:
    """The scripts as modules; they import their neighbours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ADAPTERS))
        names = {"peers": ".__main__", "peers_setup": ".environments", "peers_table": ".table"}
        ours = {name: importlib.import_module(f"experiments.peers{path}") for name, path in names.items()}
        yield ours | {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def peers(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["peers"]


@pytest.fixture(scope="module")
def setup(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["peers_setup"]


@pytest.fixture(scope="module")
def table(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["peers_table"]


@pytest.fixture(scope="module")
def adapter(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["adapter"]


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


def read(peers: ModuleType, folder: Path, *more: str) -> argparse.Namespace:
    args: argparse.Namespace = peers.read_arguments(arguments(folder, *more))
    return args


# CoNLL-U


def test_prepared_sentences_have_words_and_trees_only(peers: ModuleType, adapter: ModuleType, tmp_path: Path):
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


def test_first_sentences_are_prepared_or_those_spread_over_all(
    peers: ModuleType, adapter: ModuleType, corpora: Path
):
    source, target = corpora / "train.conllu", corpora / "prepared.conllu"
    words = [[word[0] for word in sentence] for sentence in read_treebank()]
    for options, chosen in (
        ({}, range(10)),
        ({"n": 3}, range(3)),
        ({"n": 3, "spread": True}, (0, 3, 6)),
        ({"n": 10, "spread": True}, range(10)),
    ):
        peers.prepare(source, target, **options)
        assert [sentence.words for sentence in adapter.read_sentences(target)] == [words[i] for i in chosen]


def test_more_sentences_than_there_are_is_an_error(peers: ModuleType, corpora: Path):
    with pytest.raises(SystemExit, match=r"has 10 sentences: expected at least the 11 asked for"):
        peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu", 11)


def test_incomplete_trees_are_an_error(peers: ModuleType, tmp_path: Path):
    source = tmp_path / "partial.conllu"
    source.write_text(row("1", "a", "_") + row("2", "b", "0") + "\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"partial\.conllu"):
        peers.prepare(source, tmp_path / "prepared.conllu")


def test_sentences_are_read_as_they_were_written(adapter: ModuleType, tmp_path: Path):
    sentences = [
        adapter.Sentence(["10 000", "_"], [(2, "nummod"), (0, "root")]),
        adapter.Sentence(["é"], [(0, "root")]),
    ]
    adapter.write_sentences(tmp_path / "a.conllu", sentences)
    assert list(adapter.read_sentences(tmp_path / "a.conllu")) == sentences


def test_trees_are_filled_in_beside_multiword_tokens_and_empty_nodes(
    peers: ModuleType, adapter: ModuleType, tmp_path: Path
):
    gold, parsed, target = (tmp_path / f"{name}.conllu" for name in ("gold", "parsed", "target"))
    gold.write_text(SAMPLE, encoding="utf8")
    peers.prepare(gold, parsed)
    flat = [
        sentence._replace(tree=[(0, "root"), *((1, "dep:x") for _ in sentence.words[1:])])
        for sentence in adapter.read_sentences(parsed)
    ]
    adapter.write_sentences(parsed, flat)
    peers.fill_trees(gold, parsed, target)
    for sentence, expected in zip(read_conllu(target, trees="full"), flat, strict=True):
        assert [(word.head, word.deprel) for word in sentence.words] == expected.tree
    changed = [
        line.split("\t")[0]
        for line, before in zip(
            target.read_text(encoding="utf8").splitlines(), SAMPLE.splitlines(), strict=True
        )
        if line != before
    ]
    assert set(changed) <= set("23456789")
    adapter.write_sentences(parsed, flat[:1])
    with pytest.raises(peers.PeerError, match=r"1 sentences, expected 3"):
        peers.fill_trees(gold, parsed, target)


def test_trees_of_other_words_are_refused(peers: ModuleType, adapter: ModuleType, corpora: Path):
    first, *rest = [adapter.Sentence([w[0] for w in s], [w[2:] for w in s]) for s in read_treebank()]
    adapter.write_sentences(corpora / "parsed.conllu", [first._replace(words=["x"] * 5), *rest])
    with pytest.raises(
        peers.PeerError, match=r"parsed\.conllu, line 1: expected the words of .*dev\.conllu, line 1"
    ):
        peers.fill_trees(corpora / "dev.conllu", corpora / "parsed.conllu", corpora / "target.conllu")


def test_several_roots_are_refused(peers: ModuleType, adapter: ModuleType, corpora: Path):
    roots = [adapter.Sentence([w[0] for w in s], [(0, "root")] * len(s)) for s in read_treebank()]
    adapter.write_sentences(corpora / "parsed.conllu", roots)
    with pytest.raises(peers.PeerError, match=r"parsed\.conllu, line 2: several roots"):
        peers.fill_trees(corpora / "dev.conllu", corpora / "parsed.conllu", corpora / "target.conllu")


@pytest.mark.slow
def test_scores_are_those_of_g2g_evaluate(peers: ModuleType, corpora: Path):
    gold, system = corpora / "dev.conllu", corpora / "system.conllu"
    write_conllu(system, read_treebank(), det="dep", nsubj="obj")
    expected = evaluate_sentences(read_conllu(gold), read_conllu(system))
    try:
        found = peers.official_scores(gold, system)
    except SystemExit:
        pytest.skip("needs the command udeval of the package udtools")
    assert found == {m: round(100 * expected[m].f1, 2) for m in ("UAS", "LAS", "CLAS")}
    assert found["UAS"] > found["LAS"]


def test_f1_is_read_from_what_udeval_prints(peers: ModuleType):
    text = """\
Metric     | Precision |    Recall |  F1 Score | AligndAcc
-----------+-----------+-----------+-----------+-----------
Words      |    100.00 |    100.00 |    100.00 |
UAS        |     81.00 |     82.00 |     81.50 |     83.00
LAS        |     71.00 |     72.00 |     71.50 |     73.00
CLAS       |     61.00 |     62.00 |     61.50 |     63.00
"""
    assert peers.read_scores(text) == {"UAS": 81.5, "LAS": 71.5, "CLAS": 61.5}


# Adapters


def test_further_roots_of_a_doc_are_attached_to_the_first(modules: dict[str, ModuleType]):
    spacy_adapter = modules["spacy_adapter"]
    doc = Doc(Vocab(), words=list("abcd"), heads=[1, 1, 3, 3], deps=["det", "ROOT", "det", "ROOT"])
    assert spacy_adapter.tree_of(doc) == [(2, "det"), (0, "root"), (4, "det"), (2, "parataxis")]


def test_corpus_of_spacy_gives_gold_sentences_and_trees(modules: dict[str, ModuleType], corpora: Path):
    spacy_adapter, peers = modules["spacy_adapter"], modules["peers"]
    peers.prepare(corpora / "train.conllu", corpora / "prepared.conllu")
    nlp = SimpleNamespace(vocab=Vocab())
    examples = list(spacy_adapter.make_corpus(corpora / "prepared.conllu")(nlp))
    sentences = list(modules["adapter"].read_sentences(corpora / "prepared.conllu"))
    assert [spacy_adapter.tree_of(example.reference) for example in examples] == [s.tree for s in sentences]
    for example in examples:
        assert len(list(example.predicted.sents)) == 1
        assert not example.predicted.has_annotation("DEP")
        assert "root" not in {token.dep_ for token in example.reference}


@pytest.mark.parametrize("settings", ["own", "shared"])
@pytest.mark.parametrize("name", ["spacy", "experimental", "g2g"])
def test_configs_take_the_settings_and_decay_over_the_epochs(
    modules: dict[str, ModuleType], corpora: Path, name: str, settings: str
):
    peer = modules["peers"].PEERS[name]
    if settings not in peer.settings:
        pytest.skip("has no such settings")
    modules["peers"].prepare(corpora / "train.conllu", corpora / "prepared.conllu")
    places = {name: str(corpora / "prepared.conllu") for name in ("train", "dev")}
    job = {"config": peer.config, "settings": peer.settings[settings], "epochs": 3, "seed": 5}
    config = modules["spacy_adapter"].make_config(job | places | {"encoder": str(corpora)})
    training = config.interpolate()["training"]
    assert (training["max_steps"], training["eval_frequency"], training["seed"]) == (3, 1, 5)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 3
    assert config["corpora"]["train"] == {"@readers": "peers.Corpus.v1", "path": "${paths.train}"}
    before = load_config(peer.config)
    assert not before["training"]["batcher"]["discard_oversize"]
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


def test_adapters_import_nothing_of_ours():
    for path in ADAPTERS.glob("*.py"):
        assert "spacy_g2g" not in path.read_text(encoding="utf8").replace("spacy_g2g.", ""), path


# Environments


def test_requirements_are_pinned(peers: ModuleType):
    for name in peers.PEERS:
        if name == "g2g":
            continue
        lines = (PEERS / "requirements" / f"{name}.txt").read_text(encoding="utf8").splitlines()
        assert all("==" in line for line in lines if not line.startswith("#"))


@pytest.fixture
def commands(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be run from now on, none of which is."""
    seen: list[list[str]] = []

    def spy(command: list[str], log: Path, *_: Any) -> None:
        seen.append(command)
        if command[1:3] == ["-m", "venv"]:
            Path(command[3]).mkdir()
        if "fails" in str(log):
            raise setup.PeerError("no network")

    monkeypatch.setattr(setup, "run", spy)
    return seen


def test_an_environment_is_kept_until_it_is_to_be_made_of_something_else(
    peers: ModuleType, setup: ModuleType, corpora: Path, commands: list[list[str]]
):
    args, folder = read(peers, corpora, "--python", "python3.11"), corpora / "venvs" / "stanza"
    python = setup.make_environment("stanza", folder, args)
    assert python == folder / "bin" / "python"
    assert commands[0] == ["python3.11", "-m", "venv", str(folder)]
    assert commands[1][:4] == [str(python), "-m", "pip", "install"]
    assert commands[1][4:] == ["--requirement", str(PEERS / "requirements" / "stanza.txt")]
    setup.make_environment("stanza", folder, args)
    assert len(commands) == 2
    args.python = "python3.12"
    setup.make_environment("stanza", folder, args)
    assert len(commands) == 4


def test_an_environment_that_was_not_finished_is_made_anew(
    peers: ModuleType, setup: ModuleType, corpora: Path, commands: list[list[str]]
):
    args, folder = read(peers, corpora), corpora / "fails" / "supar"
    for n in (1, 2):
        with pytest.raises(peers.PeerError):
            setup.make_environment("supar", folder, args)
        assert len(commands) == n


def test_ours_is_installed_from_a_copy_and_anew_when_it_changed(
    peers: ModuleType, setup: ModuleType, corpora: Path, commands: list[list[str]]
):
    source = corpora / "source"
    (source / "spacy_g2g").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", "spacy_g2g/a.py"):
        (source / name).write_text(name, encoding="utf8")
    args, folder = read(peers, corpora, "--source", str(source)), corpora / "venvs" / "g2g"
    for n in (2, 2):
        setup.make_environment("g2g", folder, args)
        assert len(commands) == n
    constraint, built = commands[1][5:]
    assert (constraint, Path(built).is_relative_to(source)) == (str(source / "constraints.txt"), False)
    (source / "spacy_g2g" / "a.py").write_text("changed", encoding="utf8")
    setup.make_environment("g2g", folder, args)
    assert len(commands) == 4


@pytest.mark.slow
def test_a_failed_command_tells_its_last_lines(peers: ModuleType, tmp_path: Path):
    code = "import sys; [print('line', i) for i in range(9)]; sys.exit(3)"
    with pytest.raises(peers.PeerError, match=r"exit status 3: line 4 / line 5 / line 6 / line 7 / line 8$"):
        peers.run([sys.executable, "-c", code], tmp_path / "log")
    with pytest.raises(peers.PeerError, match=r"took more than 0.1 seconds"):
        peers.run([sys.executable, "-c", "import time; time.sleep(9)"], tmp_path / "log", None, 0.1)
    with pytest.raises(peers.PeerError, match="no-such-python"):
        peers.run(["no-such-python"], tmp_path / "log")


# Everything, with peers of a few lines


@pytest.fixture
def faked(peers: ModuleType, corpora: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with corpora, where peers.py knows scripts of a few lines in place of parsers."""
    place = corpora / "adapters"
    place.mkdir()
    (place / "adapter.py").write_bytes((ADAPTERS / "adapter.py").read_bytes())
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


def tables(folder: Path) -> tuple[dict[str, Any], str]:
    out = folder / "out" / "5x2"
    return json.loads((out / "table.json").read_text()), (out / "table.md").read_text(encoding="utf8")


@pytest.mark.slow
def test_a_failing_peer_is_a_row_that_says_why_and_the_others_go_on(peers: ModuleType, faked: Path):
    options = ["--sentences", "5", "--epochs", "2", "--settings", "own", "shared"]
    test = ["--test", str(faked / "test.conllu")]
    peers.main(arguments(faked, *options, *test))
    found, text = tables(faked)
    assert list(found["rows"]) == ["spacy", "supar", "g2g"]
    assert found["rows"]["supar"]["dev"] is None
    assert "- Breaks **failed**: exit status 1: " in text
    assert "ValueError: no such encoder" in text
    spacy = found["rows"]["spacy"]
    assert (spacy["settings"], spacy["seeds"], list(spacy["tried"])) == ("shared", [0], ["own", "shared"])
    assert spacy["tried"]["own"]["dev"]["LAS"]["mean"] < spacy["dev"]["LAS"]["mean"]
    assert (spacy["parameters"], spacy["bytes"], spacy["steps"]) == (3_000_000, 5, 7)
    assert {"python", "pip"} == set(spacy["versions"])
    model = faked / "out" / "5x2" / "g2g" / "shared" / "0"
    for part in ("dev", "test"):
        expected = fake_scores(faked / f"{part}.conllu", model / f"{part}.conllu")
        assert found["rows"]["g2g"][part]["LAS"]["values"] == [expected["LAS"]]
        assert all(
            word.deprel in ("root", "punct")
            for s in read_conllu(model / f"{part}.conllu")
            for word in s.words
        )
    assert found["setup"]["hardware"]["threads"] == 1


@pytest.mark.slow
def test_what_is_there_is_not_done_again_but_what_failed_is(peers: ModuleType, faked: Path, monkeypatch: Any):
    peers.main(arguments(faked, "--sentences", "5", "--epochs", "2"))
    logs = {path: path.stat().st_mtime_ns for path in (faked / "out" / "5x2").rglob("*.log")}
    assert sorted(path.name for path in logs) == ["dev.log", "dev.log", "train.log", "train.log", "train.log"]
    fixed = peers.Peer("Breaks", "fake.py", {"shared": {"label": "det"}})
    monkeypatch.setitem(peers.PEERS, "supar", fixed)
    peers.main(arguments(faked, "--sentences", "5", "--epochs", "2"))
    changed = {
        path.relative_to(faked / "out" / "5x2").as_posix()
        for path in (faked / "out").rglob("*.log")
        if path.stat().st_mtime_ns != logs.get(path)
    }
    assert changed == {"supar/shared/0/train.log", "supar/shared/0/dev.log"}
    found, text = tables(faked)
    assert found["rows"]["supar"]["dev"]["LAS"]["mean"] > 0
    assert "failed" not in text
    peers.main(arguments(faked, "--sentences", "5", "--epochs", "2", "--rows", "--again"))
    again = {path.name for path in logs if path.stat().st_mtime_ns != logs[path]}
    assert again == {"dev.log", "train.log"}


def test_adapters_get_their_threads_and_no_gpu(peers: ModuleType, corpora: Path):
    variables = peers.devices(read(peers, corpora, "--threads", "3"))
    assert variables["OMP_NUM_THREADS"] == "3"
    assert variables["CUDA_VISIBLE_DEVICES"] == "-1"
    args = read(peers, corpora, "--gpu", "2")
    assert peers.devices(args)["CUDA_VISIBLE_DEVICES"] == "2"
    assert peers.job_of("stanza", "shared", 0, args)["gpu"] == 0


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


# The table


def known(las: float, seconds: float = 1.0, seed: int = 0, error: str | None = None) -> dict[str, Any]:
    scores = {"UAS": las + 2, "LAS": las, "CLAS": las - 3}
    parsed = {"scores": scores, "seconds": [seconds + 1, seconds], "words": 1000, "peak_mib": 512.0}
    parsed |= {"cpu_seconds": [seconds / 2, seconds]}
    parsed |= {"parameters": 23_000_000, "versions": {"torch": "2"}, "load": 0.5}
    trained = {
        "minutes": 6.0,
        "cpu_minutes": 5.0,
        "peak_mib": 2048.0,
        "load": 1.0,
        "steps": 10,
        "versions": {"torch": "2"},
    }
    both = {"train": None, "dev": None} if error else {"train": trained, "dev": parsed}
    return {**both, "test": None, "seed": seed, "bytes": 91_000_000, "error": error}


SETUP = {
    "train": "train.conllu",
    "sentences": 2000,
    "epochs": 10,
    "dev": "dev.conllu",
    "test": None,
    "hardware": {"processor": "P", "cores": 2, "threads": 1},
}
TITLES = {"spacy": "spaCy", "supar": "SuPar", "g2g": "ours"}


def test_best_settings_are_chosen_by_their_mean_over_seeds(table: ModuleType):
    models = {
        ("spacy", "own", 0): known(80.0, seed=0),
        ("spacy", "own", 1): known(90.0, seed=1),
        ("spacy", "shared", 0): known(86.0, seed=0),
        ("spacy", "shared", 1): known(86.0, seed=1),
        ("supar", "shared", 0): known(0.0, error="no"),
    }
    rows = table.make_table(TITLES, models, SETUP)["rows"]
    assert list(rows) == ["spacy", "supar"]
    assert rows["spacy"]["settings"] == "shared"
    assert rows["spacy"]["tried"]["own"]["dev"]["LAS"] == {"mean": 85.0, "values": [80.0, 90.0]}
    assert rows["spacy"]["words_per_second"]["mean"] == 1000.0
    assert (rows["supar"]["dev"], rows["supar"]["errors"]) == (None, ["no"])


@pytest.mark.parametrize(
    ("las", "seconds", "expected"),
    [
        (86.0, 0.5, ["met, +1.00 to SuPar", "met, 2.00 times its, 2.00 times by processor time"]),
        (85.0, 1.0, ["met, +0.00 to SuPar", "met, 1.00 times its, 1.00 times by processor time"]),
        (
            84.5,
            2.0,
            ["**missed**, -0.50 to SuPar", "**missed**, 0.50 times its, 0.50 times by processor time"],
        ),
    ],
)
def test_bars_are_told_as_met_or_missed(table: ModuleType, las: float, seconds: float, expected: list[str]):
    models = {
        ("spacy", "own", 0): known(80.0),
        ("supar", "shared", 0): known(85.0),
        ("g2g", "shared", 0): known(las, seconds),
    }
    bars = table.make_table(TITLES, models, SETUP)["bars"]
    assert [bar.split(": ")[1] for bar in bars] == expected
    del models["g2g", "shared", 0]
    assert table.make_table(TITLES, models, SETUP)["bars"] == []


def test_markdown_has_a_row_for_each_peer_and_what_failed_below(table: ModuleType):
    models = {
        ("spacy", "own", 0): known(80.0, seed=0),
        ("spacy", "own", 1): known(80.5, seed=1),
        ("supar", "shared", 0): known(0.0, error="exit status 1: no wheel"),
        ("g2g", "shared", 0): known(85.0, 0.25),
    }
    lines = table.markdown(table.make_table(TITLES, models, SETUP)).splitlines()
    assert lines[0] == "## train.conllu, 2,000 sentences, 10 epochs; scored on dev.conllu; P, 1 thread(s)"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, _, *rows = cells[:4]
    spacy, ours = (dict(zip(head, row, strict=True)) for row in rows)
    assert (spacy[""], spacy["LAS"], ours["LAS"]) == ("spaCy", "80.25 (80.00, 80.50)", "85.00")
    assert (ours["dev UAS"], ours["CLAS"], ours["words/s"], ours["settings"]) == (
        "87.00",
        "82.00",
        "4,000",
        "shared",
    )
    assert (ours["parameters, million"], ours["on disk, MB"]) == ("23.0", "91")
    assert "test LAS" not in head
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
    peers: ModuleType, corpora: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
):
    with pytest.raises(SystemExit):
        read(peers, corpora, *options)
    assert message in capsys.readouterr().err


def test_models_are_those_asked_for(peers: ModuleType, corpora: Path):
    args = read(peers, corpora, "--rows", "supar", "g2g", "--settings", "own", "shared", "--seeds", "1", "2")
    every = [("supar", "own"), ("supar", "shared"), ("g2g", "shared")]
    assert peers.models(args, args.rows) == [(*model, seed) for seed in (1, 2) for model in every]
    assert peers.models(read(peers, corpora, "--rows"), []) == []
    assert args.folder == corpora / "out" / "allx10"
