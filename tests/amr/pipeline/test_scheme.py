import copy
import json
from typing import Any

import numpy as np
import pytest

from spacy_g2g.amr.parsing.actions import AmrSentence
from spacy_g2g.amr.pipeline.scheme import AmrScheme, AmrSettings

from ..parsing.samples import SAMPLES, graph_of, sentence_of

TEXTS = [text for text in SAMPLES if text]


def learn(**settings: Any) -> AmrScheme:
    return AmrScheme.learn([(graph_of(SAMPLES[t]), sentence_of(t)) for t in TEXTS], AmrSettings(**settings))


def assert_same(found: AmrScheme, expected: AmrScheme) -> None:
    """Both do the same with all sentences."""
    for text in TEXTS:
        graph, sentence = graph_of(SAMPLES[text]), sentence_of(text)
        assert found.aligner.align(graph, sentence) == expected.aligner.align(graph, sentence)
        assert found.amr_oracle_actions(graph, sentence) == expected.amr_oracle_actions(graph, sentence)
        replay = found.replay(graph, sentence)
        assert (replay.ids >= 0).all()
        for of_found, of_expected in zip(replay, expected.replay(graph, sentence), strict=True):
            np.testing.assert_array_equal(of_found, of_expected)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"shift_labels": 3, "label_candidates": "word", "unaligned": "free_word"},
        {"label_candidates": "vocab", "em_iterations": 0, "max_forks": 0},
    ],
)
def test_a_scheme_that_was_json_does_the_same(settings: dict[str, Any]):
    scheme = learn(**settings)
    found = AmrScheme.from_dict(json.loads(json.dumps(scheme.to_dict())))
    assert found.to_dict() == scheme.to_dict()
    assert_same(found, scheme)


def test_learned_words_of_concepts_are_kept():
    # No letter of "zib" is in the word that it always comes with.
    pairs = [
        (graph_of(f"(z / zib-01 :ARG0 ({word} / {word}))"), AmrSentence.of([word, "quux"])) for word in "bcdf"
    ]
    scheme = AmrScheme.learn(pairs, AmrSettings())
    assert scheme.aligner.translations["zib", "quux"] > 0.5
    assert AmrScheme.from_dict(scheme.to_dict()).aligner.translations == scheme.aligner.translations
    assert AmrScheme.learn(pairs, AmrSettings(em_iterations=0)).aligner.translations == {}


def test_given_lemmas_go_before_rules():
    pair = graph_of("(z / zib)"), AmrSentence.of(["quux"], ["zib"])
    scheme = AmrScheme.learn([pair], AmrSettings())
    assert scheme.replay(*pair).ids.min() >= 0
    assert scheme.table.seen == {}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("unaligned", "nowhere"),
        ("translations", [["boy", "girl"]]),
        ("translations", [["boy", "girl", "often"]]),
        ("translations", None),
        ("table", []),
        ("table", {"actions": [["JUMP", "", ""]]}),
        ("table", {"actions": [], "seen": {"a": ["x"]}, "candidates": "lemma", "max_forks": 8}),
        ("table", {"actions": [], "seen": {}, "candidates": "all", "max_forks": 8}),
        ("table", {"actions": [], "seen": {}, "candidates": "lemma", "max_forks": -1}),
    ],
)
def test_what_is_no_scheme_is_an_error(key: str, value: object):
    data = copy.deepcopy(learn().to_dict())
    for other in ({**data, key: value}, {k: v for k, v in data.items() if k != key}):
        with pytest.raises(ValueError, match=r"E1020.*AmrScheme.to_dict"):
            AmrScheme.from_dict(other)


@pytest.mark.parametrize("data", [[], None, "scheme", ["table"]])
def test_what_is_no_dictionary_is_an_error(data: Any):
    with pytest.raises(ValueError, match="E1020"):
        AmrScheme.from_dict(data)


def test_a_scheme_of_an_early_version_is_read():
    data = learn().to_dict()
    assert AmrScheme.from_dict({**data, "unaligned": "neighbour"}).to_dict() == data
    assert AmrSettings(unaligned="neighbour") == AmrSettings()
