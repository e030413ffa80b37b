"""Make a page of trained pipelines: which there are, how good they are, and what to type for each.

    python -m project.models PACKAGES PAGE.md [--note TEXT]

PACKAGES has a folder for each run, with the package that project/package.py made. All figures come from the
meta.json of the packages, and the text around them from project/models.md.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spacy_g2g.files import files_in, write_text

from .markdown import markdown_table
from .model_card import treebank_name
from .release import OPEN_LICENSE
from .up_to_date import read_json

TEMPLATE = Path(__file__).with_suffix(".md")
#: Metrics in meta.json, by the titles of their columns.
WORDS = {"UPOS": "upos", "features": "ufeats", "lemmas": "lemmas", "UAS": "uas", "LAS": "las"}
FROM_TEXT = {"sentences": "sentences", "words": "words", **WORDS}
#: Treebank of the workflow `demo`.
DEMO = "English-Open"
OVERVIEW = ("language", "pipeline", "treebank", "license", "commercial use", "MB", "LAS from text")


def make_page(packages: Path, *, note: str = "") -> str:
    """Return the page. Raises SystemExit if no package has scores from text.

    note: What else readers must know of the runs.
    """
    paths = [path for path in files_in(packages, "meta.json") if path.parents[2] == packages]
    found = [(path.parent, read_json(path)) for path in paths]
    found = [(folder, meta) for folder, meta in found if "dev_raw_las" in meta["performance"]]
    if not found:
        raise SystemExit(f"{packages} has no package with scores from text. Expected those of a workflow.")
    found.sort(key=lambda pair: (language_of(pair[1]), -pair[1]["performance"]["dev_raw_las"]))
    metas = [meta for _, meta in found]
    gold = [("pipeline", *WORDS), *(score_row(meta, "dev", WORDS) for meta in metas)]
    text = [("pipeline", *FROM_TEXT), *(score_row(meta, "dev_raw", FROM_TEXT) for meta in metas)]
    devices = {meta["spacy_g2g"]["training"]["device"] for meta in metas}
    page = TEMPLATE.read_text(encoding="utf8").format(
        note=note,
        devices=", ".join(sorted(devices)),
        overview=markdown_table([(*OVERVIEW, "words a second", "minutes"), *map(overview_row, metas)]),
        gold=markdown_table(gold),
        text=markdown_table(text),
        lines="\n\n".join(lines_of(folder, meta) for folder, meta in found),
    )
    return re.sub(r" +$", "", page, flags=re.MULTILINE)


def language_of(meta: Mapping[str, Any]) -> str:
    """Return the name of a pipeline's language, which the name of a UD treebank begins with."""
    treebank: str = meta["spacy_g2g"]["treebank"]["treebank"]
    return treebank.removeprefix("UD_").partition("-")[0].replace("_", " ")


def overview_row(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a newcomer asks first."""
    facts, license_ = meta["spacy_g2g"], meta["license"]
    use = "yes" if OPEN_LICENSE.fullmatch(license_) else "no" if "NC" in license_ else "read it"
    speed = facts.get("speed", {}).get("document_wps")
    return (
        *(language_of(meta), f"{meta['lang']}_{meta['name']}", treebank_name(facts["treebank"])),
        *(license_, use, f"{facts['size_in_bytes'] / 1e6:.0f}", *score_row(meta, "dev_raw", ("LAS",))[1:]),
        *(f"{speed:,.0f}" if speed else "-", f"{facts['training']['minutes']:.0f}"),
    )


def score_row(meta: Mapping[str, Any], split: str, titles: Iterable[str]) -> tuple[str, ...]:
    """Return the name of a pipeline, and its percentages on a set; a dash stands for a missing one."""
    values = [meta["performance"].get(f"{split}_{FROM_TEXT[title]}") for title in titles]
    return (f"{meta['lang']}_{meta['name']}", *("-" if v is None else f"{100 * v:.1f}" for v in values))


def lines_of(folder: Path, meta: Mapping[str, Any]) -> str:
    """Return the lines that train and install a pipeline, below a title."""
    name, facts = f"{meta['lang']}_{meta['name']}", meta["spacy_g2g"]
    treebank, training = facts["treebank"], facts["training"]
    encoder = training["encoder"].partition(" (")[0]  # without what tells where it was taken from
    options = {"treebank": treebank["treebank"], "ud_tag": treebank["tag"], "encoder": encoder}
    options |= {"pipeline_config": f"configs/{training['config']}", "steps": str(training["max_steps"])}
    given = " ".join(f"--vars.{key} {shlex.quote(value)}" for key, value in options.items() if value)
    workflow = "demo ." if treebank["treebank"] == DEMO else f"pipeline . {given}"
    wheel = folder / "dist" / f"{folder.name.lower()}-py3-none-any.whl"
    lines = [f"spacy project run {workflow}", f"pip install --no-deps {shlex.quote(wheel.as_posix())}"]
    return "\n".join([f"### {name}\n\n```bash", *(f"python -m {line}" for line in lines), "```"])


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("packages", type=Path, help="folder of the packages, by runs")
    cli.add_argument("page", type=Path, help="Markdown file to write")
    cli.add_argument("--note", default="", help="what else readers must know of the runs")
    args = cli.parse_args()
    write_text(args.page, make_page(args.packages, note=args.note))


if __name__ == "__main__":
    main()
