"""`project.yml`: from a treebank to a wheel, and what it does with treebanks that are not as expected."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import DocBin
from spacy.util import load_config

ROOT = Path(__file__).parent.parent
TREEBANK, TAG = "UD_Xx-Tiny", "r9.1"
PREFIX = "xx_tiny-ud"
FOLDER = Path(f"assets/treebanks/{TREEBANK}-{TAG}")
CHECKSUMS = Path(f"assets/checksums/{TREEBANK}-{TAG}.sha256")
VARIABLES = {
    "treebank": TREEBANK,
    "ud_tag": TAG,
    "lang": "xx",
    "encoder": "",
    "config": "configs/test/syntr_tiny.cfg",
    "refiner_config": "configs/test/rngtr_tiny.cfg",
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


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder of one treebank, whose training set comes in two parts."""
    base = tmp_path / "plain"
    treebank = base / TREEBANK
    treebank.mkdir(parents=True)
    train = sample("train", 40)
    parts = {"train-a": train[:30], "train-b": train[30:], "dev": sample("dev", 8), "test": sample("test", 8)}
    for part, sentences in parts.items():
        (treebank / f"{PREFIX}-{part}.conllu").write_text("".join(sentences), encoding="utf8")
    (treebank / "LICENSE.txt").write_text("The licence.\n", encoding="utf8")
    return base


@pytest.fixture
def repositories(plain: Path) -> Path:
    """The same as a git repository with a tag, after which it went on."""
    treebank = plain / TREEBANK
    git(treebank, "init", "--quiet")
    git(treebank, "add", ".")
    git(treebank, "commit", "--quiet", "--message", "Release")
    git(treebank, "tag", TAG)
    git(treebank, "rm", "--quiet", f"{PREFIX}-train-a.conllu")
    git(treebank, "commit", "--quiet", "--message", "Development")
    return plain


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the workflow `all` needs of the project."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copyfile(ROOT / "project.yml", folder / "project.yml")
    for name in ("configs", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run_workflow(project: Path, base: str, name: str = "all") -> subprocess.CompletedProcess[str]:
    variables = [item for name, value in VARIABLES.items() for item in (f"--vars.{name}", value)]
    command = [
        sys.executable,
        "-m",
        "spacy",
        "project",
        "run",
        name,
        ".",
        *variables,
        "--vars.ud_base",
        base,
    ]
    return run(*command, cwd=project)


def download(project: Path, base: str | Path, tag: str = TAG) -> subprocess.CompletedProcess[str]:
    script = project / "scripts" / "treebank.py"
    arguments = (base, TREEBANK, tag, FOLDER, CHECKSUMS)
    return run(sys.executable, script, "download", *arguments, cwd=project)


def downloaded(project: Path) -> list[str]:
    """The files that a download left."""
    folders = (project / "assets" / "treebanks", project / "assets" / "checksums")
    files = [path for folder in folders for path in folder.rglob("*")]
    return sorted(path.relative_to(project / "assets").as_posix() for path in files)


def test_all_makes_a_wheel_of_a_tagged_repository_and_then_has_nothing_to_do(
    project: Path, repositories: Path
):
    done = run_workflow(project, repositories.as_uri())
    assert done.returncode == 0, done.stdout + done.stderr
    for split in ("dev", "test"):
        scores = json.loads((project / "metrics" / TREEBANK / f"{split}.json").read_text(encoding="utf8"))
        assert scores["LAS"]["gold"] == scores["LAS"]["system"] > 0
    assert list((project / "packages").rglob("xx_tiny-0.1.0-py3-none-any.whl"))
    again = run_workflow(project, repositories.as_uri())
    assert again.returncode == 0, again.stdout + again.stderr
    skipped = set(re.findall(r"Skipping '(\w+)'", again.stdout))
    assert skipped == {"download", "convert", "train", "evaluate", "package"}


def test_refine_and_jackknife_put_a_refiner_on_what_all_has_trained(project: Path, plain: Path):
    for name in ("all", "refine"):
        done = run_workflow(project, str(plain), name)
        assert done.returncode == 0, done.stdout + done.stderr
    assert list((project / "packages").rglob("xx_tiny_refined-0.1.0-py3-none-any.whl"))
    metrics = project / "metrics" / f"{TREEBANK}-refined" / "dev.json"
    assert json.loads(metrics.read_text(encoding="utf8"))["LAS"]["gold"] > 0
    refined = project / "training" / f"{TREEBANK}-refined" / "model-best"
    assert spacy.load(refined).pipe_names == ["sentencizer", "g2g_parser", "rng_refiner"]
    shutil.rmtree(refined)
    done = run_workflow(project, str(plain), "jackknife")
    assert done.returncode == 0, done.stdout + done.stderr
    config = load_config(refined / "config.cfg")
    parsed = DocBin().from_disk(project / config["paths"]["train_parsed"])
    assert len(parsed) == 40


def test_download_takes_the_tag_and_joins_the_parts_of_the_training_set(project: Path, repositories: Path):
    assert download(project, repositories).returncode == 0
    folder = project / FOLDER
    assert (folder / "train.conllu").read_text(encoding="utf8") == "".join(sample("train", 40))
    assert sorted(path.name for path in folder.iterdir()) == [
        "LICENSE.txt",
        "dev.conllu",
        "test.conllu",
        "train.conllu",
    ]


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
    done = run(sys.executable, "scripts/treebank.py", "verify", FOLDER, CHECKSUMS, cwd=project)
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


def test_treebank_without_development_set_is_refused(project: Path, plain: Path):
    (plain / TREEBANK / f"{PREFIX}-dev.conllu").unlink()
    done = download(project, plain)
    assert done.returncode == 1
    assert f"{TREEBANK} has no dev set: expected *-ud-dev.conllu, found {PREFIX}-test.conllu" in done.stderr
    assert downloaded(project) == []


def test_commands_use_every_variable_and_no_other():
    """A name that is wrong on the command line is ignored silently, so the file must be right."""
    text = (ROOT / "project.yml").read_text(encoding="utf8")
    assert set(re.findall(r"\$\{vars\.(\w+)\}", text)) == set(srsly.yaml_loads(text)["vars"])


def test_every_variable_has_a_comment():
    block = re.search(r"^vars:\n(.*?)^\w", (ROOT / "project.yml").read_text(encoding="utf8"), re.M | re.S)
    assert block
    lines = [line.strip() for line in block[1].strip().splitlines()]
    for comment, line in zip(["", *lines], lines, strict=False):
        assert line.startswith("#") or comment.startswith("#"), line
