"""The stack-Transformer on the vectors of an encoder that the pipeline shares, and in half precision."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from thinc.api import fix_random_seed

from spacy_g2g.models.shim import get_shim

from ..util import (
    TINY_STACK,
    overfit,
    parser_of,
    plain_doc,
    tree_of,
    treebank_docs,
    treebank_examples,
)
from .test_shared_encoder import LISTENERS, TOK2VEC, transformer

MEAN = {**LISTENERS["transformer"], "pooling": {"@layers": "reduce_mean.v1"}}


def shared_nlp(upstream: str, folder: Path, **settings: Any) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe(upstream, config={"model": TOK2VEC if upstream == "tok2vec" else transformer(folder)})
    own = {"tok2vec": LISTENERS["tok2vec"] if upstream == "tok2vec" else MEAN, **TINY_STACK, **settings}
    model = {"@architectures": "spacy_g2g.StackTransformer.v1", **own}
    nlp.add_pipe("g2g_parser", config={"model": model})
    return nlp


@pytest.mark.slow
@pytest.mark.parametrize("upstream", ["tok2vec", "transformer"])
def test_vectors_of_a_shared_encoder_are_read_and_learned(upstream: str, tmp_path: Path):
    nlp = shared_nlp(upstream, tmp_path / "bert", shift_labels=3)
    nlp.initialize(lambda: treebank_examples(nlp))
    overfit(nlp, treebank_examples(nlp), steps={"tok2vec": 60, "transformer": 60}[upstream])
    spec = get_shim(parser_of(nlp).model).spec
    assert spec is not None
    assert (spec.encoder, len(spec.learned["frequent_words"])) == (None, 3)
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    for example in treebank_examples(loaded):
        assert tree_of(loaded(example.predicted)) == tree_of(example.reference)
    docs = [plain_doc(loaded.vocab, ["she", "saw", " ", "it"], ["\n"]), *treebank_docs(loaded.vocab)]
    together = [tree_of(doc) for doc in loaded.pipe([doc.copy() for doc in docs])]
    assert together == [tree_of(loaded(doc)) for doc in docs]
