"""Files for hosts, registries and catalogs have their published forms, and agree with the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import srsly
from packaging.specifiers import SpecifierSet

import spacy_g2g

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ISSUE_CONFIG = GITHUB / "ISSUE_TEMPLATE" / "config.yml"
ISSUE_FORMS = sorted(set(ISSUE_CONFIG.parent.iterdir()) - {ISSUE_CONFIG})
#: Files, by the published schema of their form.
FORMS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": ISSUE_FORMS,
    "github-issue-config": [ISSUE_CONFIG],
    "dependabot": [GITHUB / "dependabot.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}
#: What a target of the Makefile is run by. `.ci/run` runs some; this test runs others.
RUN_BY = {
    "bench": "tests/experiments/test_bench.py",
    "check": "make test runs the same, and slow tests",
    "coverage": "by night",
    "demo": ".ci/run",
    "dist": ".ci/run",
    "docs": "its page",
    "installed": "by night",
    "long": "test_a_random_test_has_new_inputs_by_night_alone",
    "lowest": "by night",
    "mutants": "by night",
    "newest": "by night",
    "notes": "test_targets_of_releases_run",
    "pipeline": "test_a_pipeline_of_the_workflow_can_be_trained",
    "quick": "make check",
    "release": "test_targets_of_releases_run",
    "release-pipelines": "test_targets_of_releases_run",
    "test": ".ci/run",
}
#: What spaCy's Universe takes: fields with their types, and categories of projects (website/UNIVERSE.md and
#: website/meta/universe.json of spaCy).
TEXTS = {"id", "title", "slogan", "description", "github", "pip", "code_language", "url", "thumb", "image"}
UNIVERSE = {**dict.fromkeys(TEXTS | {"author"}, str), "author_links": dict}
UNIVERSE |= dict.fromkeys(("code_example", "category", "tags"), list)
CATEGORIES = {"pipeline", "training", "research", "scientific", "visualizers", "apis", "standalone", "models"}


def steps() -> list[tuple[str, dict[str, Any]]]:
    """Each step of the workflows, with the name of its file."""
    return [
        (path.name, step)
        for path in WORKFLOWS
        for job in srsly.read_yaml(path)["jobs"].values()
        for step in job["steps"]
    ]


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make, as from a terminal: a make that runs these tests hands its level, flags and variables on."""
    command = [shutil.which("make") or pytest.skip("make is not installed"), *arguments]
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**outer, "PYTHON": sys.executable, **environment}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("form", FORMS)
def test_files_have_their_published_form(form: str, capsys: pytest.CaptureFixture[str]):
    check_jsonschema = pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    with pytest.raises(SystemExit) as ended:
        check_jsonschema.main(["--builtin-schema", f"vendor.{form}", *map(str, FORMS[form])])
    assert ended.value.code == 0, capsys.readouterr().out


def test_each_command_of_a_workflow_is_a_target_that_is_run():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf8"), re.MULTILINE)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf8")
    for name, step in steps():
        if "run" in step:
            (target,) = re.fullmatch(r"make ([\w-]+)(?: PYTHON=python)?", step["run"]).groups()
            assert target in targets or target == "docs", f"{name}: {target}"
            assert RUN_BY[target] != ".ci/run" or f"make {target}" in script


def test_actions_are_pinned_and_what_others_write_is_no_part_of_a_command():
    for name, step in steps():
        # Expressions belong into `env`, and no option of `VARS` is an input.
        assert "${{" not in step.get("run", ""), name
        assert "inputs." not in step.get("env", {}).get("VARS", ""), name
        if "uses" in step:
            assert re.search(r"@[0-9a-f]{40}$|^docker://.+:\d+\.\d+\.\d+$", step["uses"]), (name, step)


@pytest.mark.slow
def test_targets_of_releases_run(tmp_path: Path):
    """Up to the check of the tag, which stops them before anything is published."""
    for target in ("notes", "release"):
        done = make(target, GITHUB_REF_NAME="v0")
        assert done.returncode == 2
        assert f"Expected v{spacy_g2g.__version__}" in done.stderr
    done = make("release-pipelines", TAG="pipelines-0", DIST=str(tmp_path))
    assert done.returncode == 2
    assert f"no wheel in {tmp_path}" in done.stderr


@pytest.mark.slow
def test_a_pipeline_of_the_workflow_can_be_trained(tmp_path: Path):
    """`spacy project run` is told the variables that the project has, and the files that there are."""
    (step,) = (
        step for name, step in steps() if name == "pipelines.yml" and step.get("run") == "make pipeline"
    )
    options = re.findall(r"--vars\.(\w+)", step["env"]["VARS"])
    assert {*options, "version", "ud_tag"} <= set(srsly.read_yaml(ROOT / "project.yml")["vars"])
    matrix = srsly.read_yaml(GITHUB / "workflows" / "pipelines.yml")["jobs"]["train"]["strategy"]["matrix"]
    for config in [*matrix["config"], *(row["config"] for row in matrix["include"])]:
        assert (ROOT / "configs" / f"{config}.cfg").exists()
    (tmp_path / ".ready").touch()
    given = {
        "VARS": f"--vars.encoder '' --vars.lang $(touch${{IFS}}{tmp_path}/x)",
        "PIPELINE_VERSION": "0;a 'b",
    }
    done = make("pipeline", f"VENV={tmp_path}", 'RUN=printf "<%s>"', **given, UD_TAG="")
    words = ["pipeline", ".", "--vars.encoder", "", "--vars.lang", f"$(touch${{IFS}}{tmp_path}/x)"]
    words = ["spacy", "project", "run", *words, "--vars.version", "0;a 'b"]
    assert done.stdout.endswith("".join(f"<{word}>" for word in words))
    assert {"PIPELINE_VERSION", "UD_TAG"} <= set(step["env"])
    assert os.listdir(tmp_path) == [".ready"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["notes", "release", "release-pipelines"])
@pytest.mark.parametrize(
    "tag",
    ["v0;{}", "v0|{}", "v0&{}", "`{}`", "$({})", "$(shell {})", "${{shell {}}}", "'{}'", '";{};"', "\n{}"],
)
def test_the_name_of_a_tag_is_never_run(tmp_path: Path, target: str, tag: str):
    tag = tag.format(f"touch${{IFS}}{tmp_path}/run")
    for given in ({"GITHUB_REF_NAME": tag}, {"TAG": tag}, {"DIST": tag, "TAG": "pipelines-0"}):
        assert make(target, **given).returncode == 2
        assert make(target, *(f"{name}={value}" for name, value in given.items())).returncode == 2
    assert not (tmp_path / "run").exists()


def test_python_has_no_upper_bound_and_each_version_is_tested():
    project = metadata("spacy-g2g")
    named = [line.rpartition(" ")[2] for line in project.get_all("Classifier") if "Python :: 3." in line]
    matrix = srsly.read_yaml(GITHUB / "workflows" / "ci.yml")["jobs"]["check"]["strategy"]["matrix"]
    assert matrix["python"] == named
    bounds = SpecifierSet(project["Requires-Python"])
    assert all(version in bounds for version in (*named, "3.99"))


def test_the_citation_names_this_version():
    assert srsly.read_yaml(ROOT / "CITATION.cff")["version"] == spacy_g2g.__version__


def test_the_entry_for_spacys_universe_has_its_form():
    entry = json.loads((ROOT / "docs" / "universe.json").read_text(encoding="utf8"))
    assert {"id", "title", "slogan", "description", "pip", "author", "category"} <= set(entry)
    assert all(isinstance(value, UNIVERSE[key]) for key, value in entry.items())
    assert set(entry["category"]) <= CATEGORIES
    assert all(isinstance(line, str) for line in entry["code_example"])
