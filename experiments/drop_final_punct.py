"""Write a treebank without the final punctuation of its sentences, to measure how much a pipeline relies on
it.

    python -m experiments.drop_final_punct TREEBANK OUTPUT

A space follows a sentence if a space follows it in the treebank. Multiword tokens become their words.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_g2g.cli.common import user_errors
from spacy_g2g.data.augmenters import final_punct
from spacy_g2g.data.docs import ALL_COLUMNS, doc_to_sentences, sentences_to_doc
from spacy_g2g.data.rewriting import pieces_of, rewrite
from spacy_g2g.files import atomic_path
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.formats.paragraphs import paragraphs


def main() -> None:
    """Write the treebank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path, help="CoNLL-U or CoNLL-X file")
    parser.add_argument("output", type=Path, help="CoNLL-U file to write")
    arguments = parser.parse_args()
    with user_errors(), atomic_path(arguments.output) as path:
        path.write_text("".join(drop(arguments.treebank)), encoding="utf8")


def drop(treebank: Path) -> Iterator[str]:
    """Yield the sentences as CoNLL-U, with each paragraph as a document."""
    for number, paragraph in enumerate(paragraphs(read_conllu(treebank, trees="full")), 1):
        doc = without_final_punct(sentences_to_doc(paragraph, Vocab(), keep_source=False))
        sentences = doc_to_sentences(doc, doc_id=str(number), columns=ALL_COLUMNS)
        yield from ((f"# newdoc id = {number}\n" if not i else "") + str(s) for i, s in enumerate(sentences))


def without_final_punct(doc: Doc) -> Doc:
    """Return the Doc without the punctuation that ends its sentences."""
    is_kept = np.ones(len(doc), dtype=np.bool_)
    for sentence in doc.sents:
        is_kept[final_punct(list(sentence))] = False
    return rewrite(doc, pieces_of(doc, is_kept))


if __name__ == "__main__":
    main()
