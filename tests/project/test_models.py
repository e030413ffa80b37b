"""The page of trained pipelines, from the meta.json of small packages."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from project import models

ROOT = Path(__file__).parents[2]
SCORES = {f"dev_{name}": 0.9 for name in models.WORDS.values()}
SCORES |= {f"dev_raw_{name}": 0.8 for name in models.FROM_TEXT.values()}


def write_package(packages: Path, treebank: str, license_: str, **changes: Any) -> None:
    lang = changes.get("lang", "xy")
    training = {
        "encoder": "some/encoder (elsewhere, SHA-256 1)",
        "config": "pipeline.cfg",
        "max_steps": 300,
        "minutes": 7.4,
        "device": "CPU",
    }
    meta = {
        "lang": lang,
        "name": "g2g_pipeline",
        "license": license_,
        "performance": SCORES | changes.get("performance", {}),
        "spacy_g2g": {
            "size_in_bytes": 61_400_000,
            "treebank": {"treebank": treebank, "tag": changes.get("tag", "r2.3")},
            "training": training | changes.get("training", {}),
            **({"speed": {"document_wps": 1234.5}} if changes.get("has_speed", True) else {}),
        },
    }
    folder = packages / f"{treebank}-pipeline" / f"{lang}_g2g_pipeline-0.1.0"
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps(meta), "utf8")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of three pipelines, as the command writes it."""
    monkeypatch.chdir(tmp_path)
    packages = tmp_path / "packages"
    write_package(
        packages,
        "UD_Turkish-IMST",
        "CC BY-NC-SA 3.0",
        lang="tr",
        performance={"dev_raw_las": 0.7, "dev_ufeats": None},
    )
    write_package(packages, "UD_Turkish-BOUN", "LGPLLR", lang="tr", has_speed=False)
    write_package(packages, "English-Open", "MIT", lang="en", training={"device": "H100"})
    (packages / "amr" / "en_g2g_amr-0.1.0").mkdir(parents=True)
    (packages / "amr" / "en_g2g_amr-0.1.0" / "meta.json").write_text(
        '{"performance": {"dev_smatch": 0.5}}', "utf8"
    )
    monkeypatch.setattr(sys, "argv", ["models", "packages", "page.md", "--note", "A note."])
    models.main()
    return (tmp_path / "page.md").read_text("utf8")


def test_each_pipeline_has_a_row_and_the_best_of_a_language_is_first(page: str) -> None:
    rows = [line for line in page.splitlines() if re.match(r"\| (English|Turkish)", line)]
    assert rows == [
        "| English | en_g2g_pipeline | English-Open r2.3 | MIT | yes | 61 | 80.0 | 1,234 | 7 |",
        "| Turkish | tr_g2g_pipeline | UD_Turkish-BOUN r2.3 | LGPLLR | read it | 61 | 80.0 | - | 7 |",
        "| Turkish | tr_g2g_pipeline | UD_Turkish-IMST r2.3 | CC BY-NC-SA 3.0 | no | 61 | 70.0 | 1,234 | 7 |",
    ]


def test_scores_from_text_and_from_gold_words_have_tables(page: str) -> None:
    rows = [line for line in page.splitlines() if line.startswith("| tr_g2g_pipeline")]
    assert rows == [
        "| tr_g2g_pipeline | 80.0 | 80.0 | 80.0 | 80.0 | 80.0 | 80.0 | 80.0 |",
        "| tr_g2g_pipeline | 80.0 | 80.0 | 80.0 | 80.0 | 80.0 | 80.0 | 70.0 |",
        "| tr_g2g_pipeline | 90.0 | 90.0 | 90.0 | 90.0 | 90.0 |",
        "| tr_g2g_pipeline | 90.0 | - | 90.0 | 90.0 | 90.0 |",
    ]
    assert "A note." in page
    assert "(CPU, H100)" in page


def test_lines_train_and_install_what_the_row_shows(page: str) -> None:
    assert (
        "python -m spacy project run pipeline . --vars.treebank UD_Turkish-IMST --vars.ud_tag r2.3 "
        "--vars.encoder some/encoder --vars.pipeline_config configs/pipeline.cfg --vars.steps 300\n"
        "python -m pip install --no-deps "
        "packages/UD_Turkish-IMST-pipeline/tr_g2g_pipeline-0.1.0/dist/tr_g2g_pipeline-0.1.0-py3-none-any.whl\n"
    ) in page
    assert "python -m spacy project run demo .\n" in page


def test_packages_without_scores_from_text_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no package with scores from text"):
        models.make_page(tmp_path)


def test_the_page_of_the_docs_is_of_the_present_form() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf8")
    place = 0
    for part in re.split(r"\{\w+\}", models.TEMPLATE.read_text("utf8")):
        assert part.strip() in page[place:]
        place = page.index(part.strip(), place)
