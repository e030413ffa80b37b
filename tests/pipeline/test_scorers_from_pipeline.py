"""Parsers that start as trained parsers: their scorers are copied whole, whatever the architecture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from spacy.language import Language
from thinc.api import Adam

from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_pipeline

from ..parser.test_g2g_encoder import OURS, shared_nlp
from ..util import (
    MIXED_WORDS,
    TINY_MODEL,
    initialized_nlp,
    make_nlp,
    parser_of,
    treebank_docs,
    treebank_examples,
    weights_of,
)

pytestmark = pytest.mark.slow

ROWS: dict[str, dict[str, Any]] = {
    "SynTr": {},
    "RNGTr": {"factory": "rng_refiner"},
    "SentTr": {"row": "SentTr"},
    "StateTr": {"row": "StateTr"},
    "StateTr with graph input": {"row": "StateTr+G2GTr"},
    "stack-Transformer": {"row": "Stack-d", "train_encoder": True},
    "labeled SHIFT": {"row": "Stack-b", "train_encoder": True},
}


def started_from(folder: Path, settings: dict[str, Any]) -> Language:
    """A pipeline with a new parser that starts as the one in a folder."""
    nlp = make_nlp(**settings)
    parser = parser_of(nlp)
    source = encoder_from_pipeline(str(folder), component=parser.name)
    parser.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=source)
    return nlp


@pytest.mark.parametrize("name", ROWS)
def test_a_parser_starts_as_the_parser_that_it_takes_scorers_from(name: str, tmp_path: Path):
    trained = initialized_nlp(**ROWS[name])
    trained.to_disk(tmp_path)
    nlp = started_from(tmp_path, ROWS[name])
    found, expected = weights_of(nlp), weights_of(trained)
    assert set(found) == set(expected)
    graph_input = {name for name in expected if "relation_" in name or name.startswith("label_emb")}
    assert all(torch.equal(found[name], expected[name]) for name in set(found) - graph_input)
    shim = get_shim(parser_of(nlp).model)
    assert shim.known_spec.pretrained == ("encoder", "task")
    if not graph_input:
        for doc, other in zip(treebank_docs(nlp.vocab), treebank_docs(nlp.vocab), strict=True):
            (parse,), (same,) = (parser_of(p).predict([d]).parses for p, d in ((nlp, doc), (trained, other)))
            assert np.array_equal(parse.tree.heads, same.tree.heads)
            assert np.array_equal(parse.head_probs, same.head_probs)
    # All weights of scorers learn at the rate of the encoder.
    parser_of(nlp).update(treebank_examples(nlp), sgd=Adam(0.01))
    groups = shim._optimizer.param_groups
    slow = {id(p) for group in groups for p in group["params"] if group["rate_factor"] < 1.0}
    names = {name for name, p in shim.network.named_parameters() if id(p) in slow}
    assert names == {name for name, _ in shim.network.named_parameters()} - graph_input


def test_scorers_for_other_frequent_words_are_left_with_a_warning(tmp_path: Path):
    settings = ROWS["labeled SHIFT"]
    initialized_nlp(**settings).to_disk(tmp_path)
    nlp = make_nlp(**settings)
    parser = parser_of(nlp)
    # Fewer sentences have other words among the five most frequent ones.
    examples = treebank_examples(nlp)[5:]
    labels = initialized_nlp(**settings).get_pipe(parser.name).label_data
    source = encoder_from_pipeline(str(tmp_path))
    with pytest.warns(UserWarning, match=r"W401.* has frequent_words \["):
        parser.initialize(lambda: examples, labels=labels, encoder=source)
    assert get_shim(parser.model).known_spec.pretrained == ("encoder",)


@pytest.mark.parametrize("shares", [True, False])
def test_a_refiner_starts_as_a_parser_that_listens(shares: bool, tmp_path: Path):
    trained = shared_nlp("g2g_parser", **MIXED_WORDS)
    trained.initialize(lambda: treebank_examples(trained))
    trained.to_disk(tmp_path)
    nlp = shared_nlp(**MIXED_WORDS)
    nlp.initialize(lambda: treebank_examples(nlp))
    own = {"tok2vec": OURS} if shares else MIXED_WORDS
    refiner: Any = nlp.add_pipe(
        "rng_refiner", config={"model": {"@architectures": "spacy_g2g.RNGTr.v1", **TINY_MODEL, **own}}
    )
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=encoder_from_pipeline(str(tmp_path)))
    shim = get_shim(refiner.model)
    found, expected = shim.network.state_dict(), get_shim(parser_of(trained).model).network.state_dict()
    if not shares:
        (upstream,) = find_shims(trained.get_pipe("g2g_encoder").model)  # type: ignore[attr-defined]
        expected = {name: w for name, w in expected.items() if name != "root"} | upstream.network.state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())
    assert shim.known_spec.pretrained == (("task",) if shares else ("encoder", "task"))
