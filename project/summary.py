"""Tell in ten lines what a package is, how good it is, and what to type next.

    python -m project.summary PACKAGE [--installed]

PACKAGE is the folder that project/package.py made. All figures come from its meta.json.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy_g2g.files import files_in

from .model_card import speed_of, weakest_of
from .treebank_settings import AMR, NEUTRAL
from .up_to_date import read_json

#: Metrics that the summary names, by their names in meta.json, in the order of their importance.
TOLD = {"smatch": "Smatch", "las": "LAS", "upos": "UPOS", "lemmas": "lemmas", "sentences": "sentences"}
#: Settings of scores: what the sets are read from, and the end of the names of these sets.
READ_FROM = {"gold words": "", "raw text": "_raw"}


def summary(package: Path, *, installed: bool = False) -> list[str]:
    """Return the lines about a package.

    package: Folder of the package, with meta.json and ``dist``.
    installed: Whether its wheel is installed in this environment.
    """
    meta = read_json(package / "meta.json")
    name = f"{meta['lang']}_{meta['name']}"
    facts = meta.get("spacy_g2g", {})
    what = meta.get("description", "").partition(":")[0]
    lines = [f"{name} {meta['version']}: {what} ({facts.get('size_in_bytes', 0) / 1e6:.0f} MB)."]
    lines += _scores(meta.get("performance", {}))
    speed = speed_of(meta)
    lines += [f"Speed here: {speed}."] if speed else []
    lines.append(f"What it is not good at: {weakest_of(meta)}. More in {package / 'README.md'}")
    return [*lines, "Next, type one of these lines:", *_next_lines(package, meta, installed=installed)]


def _scores(performance: Mapping[str, Any]) -> list[str]:
    """Return a line of scores of the development set, or of the test set where there is no other."""
    told = []
    for source, suffix in READ_FROM.items():
        split = next((s for s in ("dev", "test") if f"{s}{suffix}_las" in performance), "dev")
        found = {title: performance.get(f"{split}{suffix}_{key}") for key, title in TOLD.items()}
        values = [f"{title} {100 * value:.1f}" for title, value in found.items() if value is not None]
        told += [f"from {source} {', '.join(values)}"] if values else []
    return [f"Scores on held-out text (F1 in percent): {'; '.join(told)}."] if told else []


def _next_lines(package: Path, meta: Mapping[str, Any], *, installed: bool) -> list[str]:
    """Return lines that a reader can copy into a terminal."""
    name = f"{meta['lang']}_{meta['name']}"
    python = Path(sys.executable)
    is_below = python.is_relative_to(Path.cwd())
    run = shlex.quote(str(python.relative_to(Path.cwd()) if is_below else python))
    wheels = files_in(package / "dist", "*.whl")
    lines = (
        [] if installed or not wheels else [f"{run} -m pip install --no-deps {shlex.quote(str(wheels[0]))}"]
    )
    if meta.get("spacy_g2g", {}).get("treebank", {}).get("kind") == AMR:
        return [*lines, f"{run} -m spacy g2g parse {name} your.txt your.amr"]
    lines += [
        f"{run} -m spacy g2g parse {name} your.txt your.conllu",
        f"{run} -m spacy g2g render {name} your.txt --output your.html",
    ]
    shown = f"[(t.text, t.pos_, t.lemma_, t.dep_) for t in nlp({example_text(meta['lang'])!r})]"
    code = f"import spacy; nlp = spacy.load({name!r}); print({shown})"
    lines.append(f"{run} -c {shlex.quote(code)}" if '"' in code else f'{run} -c "{code}"')
    if "rng_refiner" in meta.get("pipeline", []) and meta["lang"] == "en":
        lines.append(
            f"In Python, its trees in another English pipeline: p = spacy.load({name!r}); "
            "p.replace_listeners('g2g_encoder', 'rng_refiner', ['model.tok2vec']); "
            "nlp = spacy.load('en_core_web_sm'); nlp.add_pipe('rng_refiner', source=p)"
        )
    return lines


def example_text(lang: str) -> str:
    """Return the shortest of spaCy's examples for a language; an English text if it has none."""
    name = f"spacy.lang.{lang}.examples"
    if lang in ("en", NEUTRAL) or find_spec(f"spacy.lang.{lang}") is None or find_spec(name) is None:
        return "Hello, who is there?"
    sentences: list[str] = import_module(name).sentences
    return min(sentences, key=len)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("package", type=Path, help="folder of the package")
    cli.add_argument("--installed", action="store_true", help="the wheel is already installed")
    args = cli.parse_args()
    print("\n".join(summary(args.package, installed=args.installed)))


if __name__ == "__main__":
    main()
