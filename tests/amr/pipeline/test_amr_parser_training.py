"""Initialization, training and settings of ``amr_parser``."""

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from thinc.api import Config, fix_random_seed

from spacy_g2g.amr.data.docs import get_amrs
from spacy_g2g.amr.parsing.actions import ActionKind
from spacy_g2g.amr.pipeline import amr_parser, training_data
from spacy_g2g.amr.pipeline.scheme import AmrSettings
from spacy_g2g.data.segmentation import segment
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_scratch

from ...parser.test_shared_encoder import LISTENERS, TOK2VEC
from ...util import make_nlp, model_config, overfit, plain_doc, treebank_examples
from ..parsing.samples import labels_of
from ..util import AMRS, amr_doc, amr_examples, amr_model, amr_nlp, amr_parser_of

pytestmark = pytest.mark.slow

WANTS = "The boy wants to sleep"
#: No training data has this concept.
UNSEEN = "(w / wish-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))"
QUUX = "(z / zib)"


def example_of(nlp: Language, text: str, *amrs: str) -> Example:
    """An Example of sentences divided by " | ", with their AMRs."""
    doc = plain_doc(nlp.vocab, *text.split(" | "))
    gold = doc.copy()
    gold._.amr = list(amrs) or None
    return Example(doc, gold)


def initialized(**settings: Any) -> Language:
    nlp = amr_nlp(**settings)
    nlp.initialize(lambda: amr_examples(nlp))
    return nlp


def update(nlp: Language, examples: list[Example], **settings: Any) -> float:
    losses: dict[str, float] = {}
    nlp.update(examples, sgd=nlp.create_optimizer(), losses=losses, drop=0.0, **settings)
    return losses["amr_parser"]


# Initialization


def test_given_labels_are_those_that_were_learned(tmp_path: Path):
    first = amr_parser_of(initialized(shift_labels=2, label_candidates="word"))
    (tmp_path / "labels.json").write_text(json.dumps(first.label_data))
    nlp = amr_nlp()
    config = {"@readers": "spacy.read_labels.v1", "path": str(tmp_path / "labels.json")}
    nlp.config["initialize"]["components"]["amr_parser"] = {"labels": config}
    differ = r"W1004.*'label_candidates': 'lemma'.*'label_candidates': 'word'"
    with pytest.warns(UserWarning, match=differ):
        nlp.initialize(lambda: amr_examples(nlp)[:1])
    parser = amr_parser_of(nlp)
    assert parser.label_data == first.label_data
    assert get_shim(parser.model).known_spec.learned == get_shim(first.model).known_spec.learned
    assert np.isfinite(update(nlp, amr_examples(nlp)))
    with pytest.raises(ValueError, match="E1020"):
        parser.initialize(lambda: amr_examples(nlp), labels=["boy"])  # type: ignore[arg-type]


def test_settings_are_those_of_what_is_learned():
    scheme = amr_parser_of(
        initialized(shift_labels=2, label_candidates="vocab", unaligned="free_word", max_forks=1, wiki="keep")
    ).scheme
    assert scheme is not None
    assert (scheme.table.candidates, scheme.table.max_forks) == ("vocab", 1)
    assert scheme.aligner.unaligned == "free_word"
    assert len([label for label in labels_of(scheme.table, ActionKind.SHIFT) if label]) == 3
    assert "wiki" in {action.label for action in scheme.table.actions}
    plain = amr_parser_of(initialized()).scheme
    assert plain is not None
    assert "wiki" not in {action.label for action in plain.table.actions}


def test_no_amrs_are_an_error_that_names_the_usual_causes():
    nlp = amr_nlp()
    without = [example_of(nlp, text) for text in AMRS]
    causes = rf"E1028.*'amr_parser'.*{len(AMRS)} sentences, 0 AMRs.*DocBin.*store_user_data.*gold_preproc"
    for examples in (without, [Example(Doc(nlp.vocab), Doc(nlp.vocab)), *without]):
        with pytest.raises(ValueError, match=rf"{causes}.*max_length"):
            nlp.initialize(lambda examples=examples: examples)


def test_amrs_of_other_words_are_an_error_and_some_of_them_a_counted_warning():
    nlp = amr_nlp()
    others = [Example(nlp.make_doc(t.upper()), amr_doc(nlp.vocab, t)) for t in AMRS if t != "Yes"]
    with pytest.raises(ValueError, match=rf"E1028.*{len(others)} AMRs.*none with the same text"):
        nlp.initialize(lambda: others)
    with pytest.warns(UserWarning, match=rf"W1003.*amr_parser.* {len(others)} of {len(others) + len(AMRS)} "):
        nlp.initialize(lambda: [*others, *amr_examples(nlp)])
    assert update(nlp, others) == 0.0
    assert update(nlp, amr_examples(nlp)) > 0.0


def test_sentences_whose_boundaries_differ_are_not_learned():
    nlp = initialized()
    first, second = list(AMRS)[:2]
    gold = amr_doc(nlp.vocab, first, second)
    words = [token.text for token in gold]
    cut = len(first.split()) + 2
    # The first sentence is that of the reference, the second is cut in two.
    starts = [i in (0, len(first.split()), cut) for i in range(len(words))]
    example = Example(Doc(nlp.vocab, words=words, sent_starts=starts), gold)
    assert update(nlp, [example]) == pytest.approx(
        update(initialized(), [example_of(nlp, first, AMRS[first])])
    )
    with pytest.warns(UserWarning, match="W1003.* 1 of 2 AMRs"):
        nlp.initialize(lambda: [example])
    # Without boundaries of its own, it has the reference's.
    unset = Example(Doc(nlp.vocab, words=words), gold)
    nlp.initialize(lambda: [unset])
    _, _, replays = amr_parser_of(nlp)._read_gold([unset])
    assert [len(replay.ids) > 0 for replay in replays] == [True, True]


@pytest.mark.parametrize("amr", ["(b / boy", "(b / boy) x", "b", "(b :ARG0 (b / boy))", ""])
def test_an_ill_formed_gold_amr_is_an_error_that_says_where(amr: str):
    nlp, fitted = amr_nlp(), initialized()
    with pytest.raises(ValueError, match=r"E100\d.*amr_parser, gold AMR of 'boy'"):
        nlp.initialize(lambda: [example_of(nlp, "boy", amr)])
    with pytest.raises(ValueError, match=r"E100\d.*amr_parser, gold AMR of 'boy'"):
        update(fitted, [example_of(fitted, "boy", amr)])


def test_amrs_that_are_not_one_for_each_sentence_are_an_error():
    nlp = amr_nlp()
    with pytest.raises(ValueError, match=r"E1018.* 2 AMR.* 1 sentence"):
        nlp.initialize(lambda: [example_of(nlp, "boy", "(b / boy)", "(b / boy)")])


# Updates


def test_concepts_that_were_not_seen_are_passed_over():
    nlp = initialized()
    examples = [example_of(nlp, WANTS, UNSEEN), *amr_examples(nlp)[:2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = [update(nlp, examples) for _ in range(3)]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]


def test_examples_without_anything_to_learn_change_nothing():
    nlp = initialized()
    parser = amr_parser_of(nlp)
    before = get_shim(parser.model).to_bytes()
    white = [plain_doc(nlp.vocab, [" ", "\n"]) for _ in range(2)]
    white[1]._.amr = ["(a / amr-empty)"]
    examples = [Example(Doc(nlp.vocab), Doc(nlp.vocab)), Example(*white), example_of(nlp, "boy")]
    for part in (examples, examples[:1], examples[1:2]):
        assert update(nlp, part) == 0.0
    assert parser.update([]) == {"amr_parser": 0.0}
    assert get_shim(parser.model).to_bytes() == before
    # Nor do they change what others learn.
    alone = update(initialized(), amr_examples(nlp))
    assert update(nlp, [*examples, *amr_examples(nlp)]) == pytest.approx(alone, rel=1e-5)


def test_kept_actions_are_those_that_were_found(monkeypatch: pytest.MonkeyPatch):
    nlp = initialized()
    parser = amr_parser_of(nlp)
    examples = amr_examples(nlp)
    _, _, fresh = parser._read_gold(examples)
    with monkeypatch.context() as patch:
        patch.setattr(amr_parser, "gold_graph", lambda *_, **__: pytest.fail("it is read again"))
        _, _, kept = parser._read_gold(examples)
    for found, expected in zip(kept, fresh, strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(parser._replays) == len(examples)
    for copied in (copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert not copied._replays
    # No more are kept than there is room for.
    monkeypatch.setattr(training_data, "MAX_BYTES", parser._replays.n_bytes)
    parser._read_gold([example_of(nlp, "boy", "(b / boy)")])
    assert "(b / boy)" not in {text for _, text in parser._replays}


def test_what_is_loaded_has_its_own_actions():
    # In the other table the actions have other numbers.
    nlp, other = initialized(), amr_nlp()
    other.initialize(lambda: amr_examples(other)[:3])
    parser = amr_parser_of(nlp)
    parser._read_gold(amr_examples(nlp))
    parser.from_bytes(amr_parser_of(other).to_bytes())
    for found, expected in zip(
        parser._read_gold(amr_examples(nlp))[2],
        amr_parser_of(other)._read_gold(amr_examples(nlp))[2],
        strict=True,
    ):
        assert found.ids.tolist() == expected.ids.tolist()


# Lemmas


@Language.factory("spacy_g2g_test_lemmas", assigns=["token.lemma"])
class Lemmas:
    """Gives each word the lemma zib."""

    def __init__(self, nlp: Language, name: str, is_trainable: bool = False) -> None:
        self.is_trainable = is_trainable

    def __call__(self, doc: Doc) -> Doc:
        for token in doc:
            token.lemma_ = "zib"
        return doc


def lemma_nlp(settings: dict[str, list[str]], is_trainable: bool = False) -> Language:
    """A pipeline whose parser reads lemmas; initialized as by ``spacy train``."""
    nlp = amr_nlp(lemma_source="token", label_candidates="word")
    nlp.add_pipe("spacy_g2g_test_lemmas", "lemmas", first=True, config={"is_trainable": is_trainable})
    nlp.config["training"].update(settings)
    with nlp.select_pipes(disable=nlp.config["training"]["frozen_components"]):
        nlp.initialize(lambda: [example_of(nlp, "quux", QUUX)])
    return nlp


@pytest.mark.parametrize(
    ("frozen", "annotating", "is_trainable", "is_learned"),
    [
        (["lemmas"], ["lemmas"], True, True),
        (["lemmas"], ["lemmas"], False, True),
        ([], ["lemmas"], False, True),
        (["lemmas"], [], False, False),
        ([], ["lemmas"], True, False),
    ],
)
def test_lemmas_that_training_sees_and_does_not_change_are_learned_with(
    frozen: list[str], annotating: list[str], is_trainable: bool, is_learned: bool
):
    nlp = lemma_nlp({"frozen_components": frozen, "annotating_components": annotating}, is_trainable)
    parser = amr_parser_of(nlp)
    assert parser.scheme is not None
    # The concept is the lemma's copy.
    assert parser.scheme.table.seen == ({} if is_learned else {"quux": ["zib"]})
    if not is_learned:
        return
    overfit(nlp, [example_of(nlp, "quux", QUUX)], steps=1)
    doc = nlp(plain_doc(nlp.vocab, "quux"))
    (sentence,) = parser.inputs([doc], segment([doc]))
    assert (list(sentence.amr.lemmas), sentence.tags) == (["zib"], None)


def test_words_without_lemmas_have_those_of_rules():
    rules, tokens = initialized(), initialized(lemma_source="token")
    assert amr_parser_of(tokens).label_data == amr_parser_of(rules).label_data
    for nlp in (rules, tokens):
        doc = plain_doc(nlp.vocab, "boys slept")
        (sentence,) = amr_parser_of(nlp).inputs([doc], segment([doc]))
        assert list(sentence.amr.lemmas) == ["boy", "sleep"]
    doc[0].lemma_ = "girl"
    (sentence,) = amr_parser_of(tokens).inputs([doc], segment([doc]))
    assert list(sentence.amr.lemmas) == ["girl", "sleep"]


@spacy.registry.readers("spacy_g2g_test_amrs.v1")
def read_amrs() -> Callable[[Language], list[Example]]:
    return lambda nlp: amr_examples(nlp)


def test_a_frozen_lemmatizer_is_used_by_spacy_train():
    nlp = amr_nlp(lemma_source="token")
    nlp.add_pipe("spacy_g2g_test_lemmas", "lemmas", first=True)
    corpora = {name: {"@readers": "spacy_g2g_test_amrs.v1"} for name in ("train", "dev")}
    training = {"frozen_components": ["lemmas"], "annotating_components": ["lemmas"]}
    config = Config(nlp.config).merge({"corpora": corpora, "training": training})
    parser = amr_parser_of(init_nlp(config))
    # All words have one lemma, and labels are kept by it.
    assert [*parser.label_data["table"]["seen"]] == ["zib"]  # type: ignore[index]


# The pipeline's shared encoder


def test_vectors_of_a_shared_encoder_are_read_and_learned(tmp_path: Path):
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("amr_parser", config={"model": amr_model(tok2vec=LISTENERS["tok2vec"])})
    with pytest.raises(ValueError, match=r"E420.*tok2vec"):
        amr_parser_of(nlp).initialize(lambda: amr_examples(nlp), encoder=encoder_from_scratch())
    nlp.initialize(lambda: amr_examples(nlp))
    encoder: Any = nlp.get_pipe("tok2vec")
    before = encoder.model.to_bytes()
    white = plain_doc(nlp.vocab, [" "])
    overfit(
        nlp, [*amr_examples(nlp), Example(white, white.copy()), Example(Doc(nlp.vocab), Doc(nlp.vocab))], 60
    )
    assert encoder.model.to_bytes() != before
    assert get_shim(amr_parser_of(nlp).model).spec.encoder is None  # type: ignore[union-attr]
    assert nlp.evaluate(amr_examples(nlp))["smatch_f"] == 1.0
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    docs = [plain_doc(nlp.vocab, *AMRS), plain_doc(nlp.vocab, ["\n"], ["a", " ", "boy"]), Doc(nlp.vocab)]
    together = [get_amrs(doc) for doc in loaded.pipe([doc.copy() for doc in docs])]
    assert together == [get_amrs(nlp(doc)) for doc in docs]
    assert loaded.evaluate(amr_examples(loaded))["smatch_f"] == 1.0


# Settings


def test_a_model_that_builds_something_else_is_an_error():
    nlp = amr_nlp(model_config("g2g_parser"))
    with pytest.raises(ValueError, match=r"E811.*'amr_parser'.*builds trees.*builds amrs"):
        nlp.initialize(lambda: amr_examples(nlp))
    nlp = make_nlp()
    nlp.replace_pipe("g2g_parser", "g2g_parser", config={"model": amr_model()})
    with pytest.raises(ValueError, match=r"E811.*'g2g_parser'.*builds amrs.*builds trees"):
        nlp.initialize(lambda: treebank_examples(nlp))


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("label_candidates", "any", r"one of \('word', 'lemma', 'vocab'\)"),
        ("lemma_source", "Token", r"one of \('rules', 'token'\)"),
        ("unaligned", "nowhere", r"one of \('neighbor', 'free_word', 'neighbour'\)"),
        ("wiki", True, r"one of \('drop', 'keep'\)"),
        ("shift_labels", -1, "a number of 0 or more"),
        ("em_iterations", -2, "a number of 0 or more"),
        ("max_forks", -1, "a number of 0 or more"),
    ],
)
def test_values_that_there_are_not_are_an_error_that_names_them(setting: str, value: Any, expected: str):
    with pytest.raises(ValueError, match=rf"(E411|E408).*{setting} is .*{value}.*{expected}"):
        AmrSettings(**{setting: value})
    # In a config, the error is spaCy's or ours.
    with pytest.raises(ValueError, match=setting):
        amr_nlp(**{setting: value})
