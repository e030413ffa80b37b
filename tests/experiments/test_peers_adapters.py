"""Adapters of `experiments.peers`, and the environments that they run in."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from experiments.peers import __main__ as peers
from experiments.peers import environments, files

from .util import read_peers

#: Peers that `spacy train` trains.
BY_CONFIG = ("spacy", "experimental", "g2g")


# Adapters


def test_corpus_of_spacy_gives_gold_sentences_and_trees(
    adapters: tuple[ModuleType, ModuleType], corpora: Path
):
    adapter, spacy_adapter = adapters
    files.prepare(corpora / "train.conllu", target=corpora / "prepared.conllu")
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
    files.prepare(corpora / "train.conllu", target=corpora / "prepared.conllu")
    places = {name: str(corpora / "prepared.conllu") for name in ("train", "dev")}
    job = {"config": peer.config, "settings": peer.settings[settings], "epochs": 3, "seed": 5}
    config = adapters[1].make_config(job | places | {"encoder": str(corpora)})
    training = config.interpolate()["training"]
    assert (training["max_steps"], training["eval_frequency"], training["seed"]) == (3, 1, 5)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 3
    assert config["corpora"]["train"] == {"@readers": "peers.Corpus.v1", "path": "${paths.train}"}
    assert not load_config(str(peer.config))["training"]["batcher"]["discard_oversize"]
    for setting, value in peer.settings[settings].items():
        if setting == adapters[1].FROZEN:
            continue
        place: Any = config
        for part in setting.split("."):
            place = place[part]
        assert place == value


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_staged_training_leaves_the_encoder_alone_at_first(
    adapters: tuple[ModuleType, ModuleType], corpora: Path, tmp_path: Path
):
    config = load_config(str(peers.PEERS["spacy"].config))
    config["components"]["transformer"] = {
        "factory": "tok2vec",
        "model": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            **dict.fromkeys(("width", "depth", "embed_size", "window_size", "maxout_pieces"), 2),
            "subword_features": False,
            "pretrained_vectors": None,
        },
    }
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 2, "upstream": "transformer"}
    config["components"]["parser"]["min_action_freq"] = 1  # Labels are few.
    config["components"]["parser"]["model"]["tok2vec"] = listener
    config.to_disk(tmp_path / "small.cfg")
    files.prepare(corpora / "train.conllu", target=corpora / "prepared.conllu")
    places = {name: str(corpora / "prepared.conllu") for name in ("train", "dev")}
    job = {"config": str(tmp_path / "small.cfg"), "settings": peers.PEERS["spacy"].settings["staged"]}
    job |= {"epochs": 2, "seed": 0, "threads": 1, "gpu": -1, "encoder": "", "model": str(tmp_path / "model")}
    assert adapters[1].train(job | places) == {"steps": 2}
    folders = ("untrained", "frozen/model-last", "model-last")
    encoders = [(tmp_path / "model" / name / "transformer" / "model").read_bytes() for name in folders]
    parsers = [(tmp_path / "model" / name / "parser" / "model").read_bytes() for name in folders]
    assert encoders[0] == encoders[1] != encoders[2]
    assert len(set(parsers)) == 3
    rates = [
        load_config(tmp_path / "model" / name / "train.cfg")["training"]["optimizer"]["learn_rate"]
        for name in ("frozen", "")
    ]
    assert [(rate["initial_rate"], rate["total_steps"]) for rate in rates] == [(1e-3, 3), (1e-4, 2)]


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
        lines = [line for path in environments.files_of(name) for line in path.read_text("utf8").splitlines()]
        assert lines
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


def test_batches_in_sentences_are_of_about_so_many_words(adapter: ModuleType, tmp_path: Path):
    sentences = [adapter.Sentence(["a"] * n, [(0, "root"), *[(1, "x")] * (n - 1)]) for n in (10, 20, 30)]
    adapter.write_sentences(tmp_path / "train.conllu", sentences, tag="X")
    assert [adapter.sentences_of(n, tmp_path / "train.conllu") for n in (5, 100, 810)] == [1, 5, 40]
    text = (tmp_path / "train.conllu").read_text(encoding="utf8")
    assert {line.split("\t")[3] for line in text.splitlines() if line} == {"X"}


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
    args, folder = read_peers(corpora, "--python", "python3.11"), corpora / "venvs" / "stanza"
    python = environments.make_environment("stanza", folder, args)
    assert python == folder / "bin" / "python"
    requirements = str(environments.PEERS_FOLDER / "requirements" / "stanza.txt")
    assert commands == [
        ["python3.11", "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--requirement", requirements],
    ]
    environments.make_environment("stanza", folder, args)
    assert len(commands) == 2
    environments.make_environment("hopsparser", corpora / "venvs" / "hopsparser", args)
    alone = str(environments.PEERS_FOLDER / "requirements" / "hopsparser_alone.txt")
    assert commands[4][1:] == ["-m", "pip", "install", "--no-deps", "--requirement", alone]
    del commands[2:]
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
    args, folder = read_peers(corpora, "--source", str(source)), corpora / "venvs" / "g2g"
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
