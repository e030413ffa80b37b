"""Parse sentences and draw their trees: `python scripts/draw.py PIPELINE TEXTS OUTPUT.html`.

TEXTS has a sentence a line. The page is displaCy's; the trees are printed too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy import displacy
from spacy.tokens import Doc


def rows(doc: Doc) -> list[str]:
    """The tree of a Doc, a word a line: number, word, relation and head."""
    width = max(len(token.text) for token in doc)
    return [
        f"{token.i + 1:>4}  {token.text:<{width}}  {token.dep_:<14}"
        + ("" if token.head.i == token.i else f"{token.head.text} ({token.head.i + 1})")
        for token in doc
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", help="name of an installed package, or a folder")
    parser.add_argument("texts", type=Path, help="text file with a sentence a line")
    parser.add_argument("output", type=Path, help="HTML page to write")
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    lines = args.texts.read_text(encoding="utf8").splitlines()
    docs = list(nlp.pipe(line.strip() for line in lines if line.strip()))
    for doc in docs:
        print(f"\n{doc.text}\n" + "\n".join(rows(doc)))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    page = displacy.render(docs, style="dep", page=True, jupyter=False, options={"compact": True})
    args.output.write_text(page, encoding="utf8")
    print(f"\nThe trees are drawn in {args.output}")


if __name__ == "__main__":
    main()
