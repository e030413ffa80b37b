"""Small pipelines that earlier versions saved, and what they gave for a few texts."""

from pathlib import Path

from spacy.language import Language

from spacy_g2g.data.docs import doc_to_sentences

FOLDER = Path(__file__).parent


def outputs(nlp: Language, texts: str) -> str:
    """Return the trees and AMRs of texts, one on each line, as CoNLL-U and Penman."""
    docs = list(nlp.pipe(texts.splitlines()))
    found = [str(sentence) for doc in docs for sentence in doc_to_sentences(doc)]
    if "amr_parser" in nlp.pipe_names:
        found += [f"{amr}\n" for doc in docs for amr in doc._.amr]
    return "".join(found)
