"""`experiments.peers`: data, options, and everything with scripts of a few lines in place of parsers."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from experiments.peers import __main__ as peers
from experiments.peers import environments, files
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import SAMPLE, row
from ..util import read_treebank
from .util import peers_arguments, read_peers, write_conllu

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


# CoNLL-U


def test_prepared_sentences_have_words_and_trees_only(adapter: ModuleType, tmp_path: Path):
    source, target = tmp_path / "sample.conllu", tmp_path / "prepared.conllu"
    source.write_text(SAMPLE, encoding="utf8")
    files.prepare(source, target=target)
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
    files.prepare(corpora / "train.conllu", target=corpora / "prepared.conllu", n=n, spread=spread)
    words = [[word[0] for word in sentence] for sentence in read_treebank()]
    found = [sentence.words for sentence in adapter.read_sentences(corpora / "prepared.conllu")]
    assert found == [words[i] for i in chosen]


def test_too_few_sentences_and_incomplete_trees_are_errors(corpora: Path):
    with pytest.raises(SystemExit, match=r"has 10 sentences: expected at least the 11 asked for"):
        files.prepare(corpora / "train.conllu", target=corpora / "prepared.conllu", n=11)
    source = corpora / "partial.conllu"
    source.write_text(row("1", "a", "_") + row("2", "b", "0") + "\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"partial\.conllu"):
        files.prepare(source, target=corpora / "prepared.conllu")


def test_trees_are_filled_in_beside_multiword_tokens_and_empty_nodes(adapter: ModuleType, tmp_path: Path):
    gold, parsed, target = (tmp_path / f"{name}.conllu" for name in ("gold", "parsed", "target"))
    gold.write_text(SAMPLE, encoding="utf8")
    files.prepare(gold, target=parsed)
    flat = [
        sentence._replace(tree=[(0, "root"), *((1, "dep:x") for _ in sentence.words[1:])])
        for sentence in adapter.read_sentences(parsed)
    ]
    adapter.write_sentences(parsed, flat)
    assert list(adapter.read_sentences(parsed)) == flat
    files.fill_trees(gold, parsed=parsed, target=target)
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
        files.fill_trees(
            corpora / "dev.conllu", parsed=corpora / "parsed.conllu", target=corpora / "target.conllu"
        )


@pytest.mark.slow
def test_scores_are_those_of_g2g_evaluate(corpora: Path):
    gold, system = corpora / "dev.conllu", corpora / "system.conllu"
    write_conllu(system, read_treebank(), det="dep", nsubj="obj")
    expected = evaluate_sentences(read_conllu(gold), system=read_conllu(system))
    try:
        found = peers.official_scores(gold, system=system)
    except SystemExit:
        pytest.skip("needs the command udeval of the package udtools")
    assert found == {m: round(100 * expected[m].f1, 2) for m in ("UAS", "LAS", "CLAS")}
    assert found["UAS"] > found["LAS"]


def test_f1_is_read_from_what_udeval_prints():
    numbers = {"Words": (100, 100, 100), "UAS": (81, 82, 81.5), "LAS": (71, 72, 71.5), "CLAS": (61, 62, 61.5)}
    rows = [f"{name:10} | {p:9.2f} | {r:9.2f} | {f:9.2f} |" for name, (p, r, f) in numbers.items()]
    text = "\n".join(["Metric     | Precision |    Recall |  F1 Score | AligndAcc", "-----------+---", *rows])
    assert peers.read_scores(text) == {"UAS": 81.5, "LAS": 71.5, "CLAS": 61.5}


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


def fake_scores(gold: Path, *, system: Path) -> dict[str, float]:
    scores = evaluate_sentences(read_conllu(gold), system=read_conllu(system))
    return {m: 100 * scores[m].f1 for m in ("UAS", "LAS", "CLAS")}


@pytest.mark.slow
def test_a_peer_that_fails_says_why_and_is_done_again_and_the_others_go_on(faked: Path, monkeypatch: Any):
    out, options = faked / "out" / "5x2", ["--sentences", "5", "--epochs", "2"]
    test = ["--settings", "own", "shared", "--test", str(faked / "test.conllu"), str(faked / "other.conllu")]
    write_conllu(faked / "other.conllu", read_treebank()[4:], nsubj="punct")
    peers.main(peers_arguments(faked, *options, *test))
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
    for part, comparisons in found["comparisons"].items():
        path = faked / f"{part}.conllu"
        best, ours = (
            fake_scores(path, system=out / name / "shared" / "0" / path.name) for name in ("spacy", "g2g")
        )
        difference = comparisons["spacy"]["difference"]
        assert list(comparisons) == ["spacy"]
        assert difference == pytest.approx((ours["LAS"] - best["LAS"]) / 100)
        assert f"- {part}: ours to Labels conj: {100 * difference:+.2f} LAS" in text
    for part in ("dev", "test", "other"):
        parsed = out / "g2g" / "shared" / "0" / f"{part}.conllu"
        las = fake_scores(faked / f"{part}.conllu", system=parsed)["LAS"]
        scores = found["rows"]["g2g"]
        assert (scores if part == "dev" else scores["test"])[part]["LAS"]["values"] == [las]
        assert {word.deprel for s in read_conllu(parsed) for word in s.words} <= {"root", "punct"}

    logs = {path: path.stat().st_mtime_ns for path in out.rglob("*.log")}
    fixed = peers.Peer("Breaks", "fake.py", {"shared": {"label": "det"}})
    monkeypatch.setitem(peers.PEERS, "supar", fixed)
    peers.main(peers_arguments(faked, *options))
    changed = {path for path in out.rglob("*.log") if path.stat().st_mtime_ns != logs.get(path)}
    assert changed == {out / "supar" / "shared" / "0" / f"{task}.log" for task in ("train", "dev")}
    found = json.loads((out / "table.json").read_text())
    assert found["rows"]["supar"]["dev"]["LAS"]["mean"] > 0
    assert "failed" not in (out / "table.md").read_text(encoding="utf8")
    peers.main(peers_arguments(faked, *options, "--rows", "--again"))
    again = {path.name for path in logs if path.stat().st_mtime_ns != logs[path]}
    assert again == {"dev.log", "train.log"}


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epochs", "0"], "--epochs 0: expected 1 or more"),
        (["--check-sentences", "-1"], "--check-sentences -1: expected 0 or more"),
        (["--rows", "malt"], "invalid choice: 'malt'"),
        (["--settings", "best"], "invalid choice: 'best'"),
        (["--test", "nothing.conllu"], "nothing.conllu: expected a CoNLL-U file"),
        (["--test", "{}/test.conllu", "{}/dev.conllu"], "--test: expected files with different names"),
        (["--test", "{}/test.conllu", "{}/test.conllu"], "none of train, dev, check, job, error, got test"),
        (["--encoder", "nowhere"], "--encoder nowhere: expected a folder with config.json"),
    ],
)
def test_wrong_options_are_told(
    corpora: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
):
    with pytest.raises(SystemExit):
        read_peers(corpora, *(option.format(corpora) for option in options))
    assert message in capsys.readouterr().err


def test_models_threads_and_gpu_are_those_asked_for(corpora: Path):
    args = read_peers(corpora, "--rows", "supar", "g2g", "--settings", "own", "shared", "--seeds", "1", "2")
    every = [("supar", "own"), ("supar", "shared"), ("g2g", "shared")]
    expected = [(*model, seed) for seed in (1, 2) for model in every]
    assert peers.trainings(args, peers=args.rows, settings=args.settings) == expected
    assert peers.trainings(args, peers=read_peers(corpora, "--rows").rows, settings=args.settings) == []
    assert args.folder == corpora / "out" / "allx10"
    variables = peers.devices(read_peers(corpora, "--threads", "3"))
    assert (variables["OMP_NUM_THREADS"], variables["CUDA_VISIBLE_DEVICES"]) == ("3", "-1")
    args = read_peers(corpora, "--gpu", "2")
    assert peers.devices(args)["CUDA_VISIBLE_DEVICES"] == "2"
    assert peers.make_job(peers.Training("stanza", "shared", 0), args)["gpu"] == 0
