"""Transition-based parsers as components: every system of the papers learns and is kept."""

import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import ConfigValidationError

from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_pipeline

from ..conftest import MakeOnce
from ..models.checks import pretrained
from ..parser.test_roundtrips import row_docs
from ..roundtrips import Kept, through_disk
from ..util import (
    PAPER_ROWS,
    STACK_ROWS,
    forks,
    gold_doc,
    initialized_nlp,
    make_nlp,
    mostly_slow,
    overfit,
    parser_of,
    plain_doc,
    tree_of,
    treebank_docs,
    treebank_examples,
)

NON_PROJECTIVE = (3, 8)
# What has to be told from CLS takes longer to learn.
STEPS = {"tokens": 25, "cls": 60, "SentTr": 40, "StackTransformer": 40}
ROWS = ("SentTr+G2GTr", "StateTr+G2GTr", "Stack-c")
#: Settings that a stack-Transformer does not have.
OF_STATES = ("states_per_sentence", "unknown_share", "tag_attr")


def architecture_of(row: str) -> tuple[str, dict[str, Any]]:
    return ("StackTransformer", STACK_ROWS[row]) if row in STACK_ROWS else PAPER_ROWS[row]


def settings_of(row: str, **settings: Any) -> dict[str, Any]:
    """The row with those of the settings that its architecture has."""
    has_all = row not in STACK_ROWS
    return {"row": row, **{name: s for name, s in settings.items() if has_all or name not in OF_STATES}}


def has_swap(row: str) -> bool:
    return bool(architecture_of(row)[1].get("swap", True))


def learnable_examples(nlp: Language, row: str) -> list[Example]:
    """Those of the ten sentences that the row can learn."""
    examples = treebank_examples(nlp)
    return [e for i, e in enumerate(examples) if has_swap(row) or i not in NON_PROJECTIVE]


def slow_row(row: str) -> Any:
    """The row as a parameter of a test, which is slow unless the row's parser is trained for others, too."""
    return pytest.param(row, marks=() if row in ROWS else pytest.mark.slow)


@pytest.fixture(scope="session")
def trained_rows(make_once: MakeOnce) -> Callable[[str], Path]:
    """Gives the folder of a pipeline with a row that has learned its sentences."""

    def train(row: str, folder: Path) -> None:
        nlp = make_nlp(**settings_of(row, states_per_sentence=None, unknown_share=0.0))
        examples = learnable_examples(nlp, row)
        nlp.initialize(lambda: examples)
        architecture, settings = architecture_of(row)
        overfit(nlp, examples, STEPS.get(architecture, STEPS[settings.get("output", "tokens")]))
        nlp.to_disk(folder)

    return lambda row: make_once(row, partial(train, row))


@pytest.mark.parametrize(
    "row", [slow_row(row) for row in (*PAPER_ROWS, "Stack-a", "Stack-c", "Stack-d", "Stack-bh")]
)
def test_each_row_learns_its_sentences_by_heart(row: str, trained_rows: Callable[[str], Path]):
    nlp = spacy.load(trained_rows(row))
    for example in learnable_examples(nlp, row):
        assert tree_of(nlp(example.predicted)) == tree_of(example.reference)


@pytest.mark.parametrize("row", ROWS)
def test_a_kept_parser_learns_on(row: str, trained_rows: Callable[[str], Path]):
    kept = spacy.load(trained_rows(row))
    losses = kept.update(treebank_examples(kept), sgd=kept.resume_training(), drop=0.0)
    assert 0 < losses["g2g_parser"] < 3


@pytest.mark.slow
@pytest.mark.parametrize("row", ["SentTr"])
def test_graph_input_added_to_a_trained_parser_begins_as_that_parser(
    row: str, trained_rows: Callable[[str], Path]
):
    trained = spacy.load(trained_rows(row))
    nlp = make_nlp(row=f"{row}+G2GTr")
    parser_of(nlp).initialize(
        lambda: treebank_examples(nlp),
        nlp=nlp,
        labels=parser_of(trained).label_data,
        encoder=encoder_from_pipeline(str(trained_rows(row))),
    )
    predicted = [parser_of(pipeline).predict(row_docs(pipeline.vocab)).parses for pipeline in (nlp, trained)]
    for found, expected in zip(*predicted, strict=True):
        assert np.array_equal(found.tree.heads, expected.tree.heads)
        assert np.array_equal(found.tree.labels, expected.tree.labels)
        assert found.head_probs == pytest.approx(expected.head_probs, abs=1e-5)


@pytest.mark.slow
def test_sampled_states_teach_as_well():
    row = "SentTr+G2GTr"
    nlp = make_nlp(row=row, states_per_sentence=4, unknown_share=0.0)
    examples = learnable_examples(nlp, row)
    nlp.initialize(lambda: examples)
    overfit(nlp, examples, 40)
    right = [tree_of(nlp(e.predicted)) == tree_of(e.reference) for e in examples]
    assert sum(right) >= 8


@pytest.mark.parametrize("row", [*ROWS, slow_row("StateCLSTr"), slow_row("DepTr")])
def test_an_added_label_leaves_the_parses_and_can_be_learned(row: str, trained_rows: Callable[[str], Path]):
    nlp = spacy.load(trained_rows(row))
    before = [tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab))]
    assert parser_of(nlp).add_label("new") == 1
    assert [tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab))] == before
    sentence = [("dogs", "NOUN", 2, "new"), ("bark", "VERB", 0, "root")]
    example = Example(plain_doc(nlp.vocab, "dogs bark"), gold_doc(nlp.vocab, [sentence]))
    overfit(nlp, [example], 10)
    assert [dep for _, dep in tree_of(nlp(plain_doc(nlp.vocab, "dogs bark")))] == ["new", "root"]


@pytest.mark.parametrize("row", ["SentTr+G2GTr", "Stack-c"])
def test_a_beam_can_be_set_on_a_trained_parser(row: str, trained_rows: Callable[[str], Path]):
    setting = {"components": {"g2g_parser": {"model": {"beam_width": 4}}}}
    nlp = spacy.load(trained_rows(row), config=setting)
    network = get_shim(parser_of(nlp).model).network
    assert (network.parser if row in STACK_ROWS else network).settings.beam_width == 4
    for example in treebank_examples(nlp):
        assert tree_of(nlp(example.predicted)) == tree_of(example.reference)
    assert list(nlp.pipe([])) == []
    assert parser_of(nlp).predict([]).by_doc() == []
    assert [len(doc) for doc in nlp.pipe([Doc(nlp.vocab), Doc(nlp.vocab)])] == [0, 0]


# Any text


@pytest.fixture(scope="module", params=mostly_slow(product(ROWS, (1, 3)), list(product(ROWS, (1,)))), ids=str)
def nlp(request: pytest.FixtureRequest) -> Language:
    """Parsers with random weights and few positions."""
    row, beam_width = request.param
    return initialized_nlp(**settings_of(row, beam_width=beam_width, n_positions=24, tag_attr="POS"))


def assert_tree(doc: Doc) -> None:
    assert doc.has_annotation("DEP", require_complete=True)
    for sent in doc.sents:
        roots = [token for token in sent if token.head.i == token.i]
        assert [token for token in sent if token.dep_ == "root"] == roots
        assert len(roots) == 1
        assert len(list(roots[0].subtree)) == len(sent)


def test_white_space_empty_docs_and_sentences_among_others_change_nothing(nlp: Language):
    texts: list[list[str]] = [["she", "saw"], [], ["\n"], ["\n", "dogs", " ", "bark", "\t"], ["yes"], []]
    docs = [plain_doc(nlp.vocab, words) if words else Doc(nlp.vocab) for words in texts]
    docs.append(plain_doc(nlp.vocab, ["she", "saw", "it"], ["\n", " "], ["Go", "!"]))
    alone = [tree_of(nlp(doc.copy())) for doc in docs]
    piped = list(nlp.pipe(docs, batch_size=4))
    assert [tree_of(doc) for doc in piped] == alone
    for doc in piped:
        if len(doc):
            assert_tree(doc)
    assert [len(sent) for sent in piped[-1].sents] == [3, 2, 2]


@pytest.mark.parametrize(
    "word", ["x" * 200, "🙂", "e\u0301", "\x00", "\u200d", "[SEP]", "New York"], ids=ascii
)
def test_any_word_is_parsed(nlp: Language, word: str):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*W802")
        assert_tree(nlp(plain_doc(nlp.vocab, ["she", word, "the", word])))
        assert_tree(nlp(plain_doc(nlp.vocab, [word])))


def test_a_sentence_of_more_words_than_positions_is_parsed_whole_with_one_warning(nlp: Language):
    doc = plain_doc(nlp.vocab, ["cat"] * 40, ["she", "saw"])
    with pytest.warns(UserWarning, match=r"(W803|W805).*1 sentence.*40 words") as caught:
        nlp(doc)
    assert len(caught) == 1
    assert_tree(doc)
    assert tree_of(doc)[40:] == [
        (head + 40, dep) for head, dep in tree_of(nlp(plain_doc(nlp.vocab, "she saw")))
    ]


@pytest.mark.parametrize("row", ROWS)
def test_probabilities_are_stored(row: str):
    nlp = initialized_nlp(row=row, store_probabilities=True)
    for token in nlp(plain_doc(nlp.vocab, "she saw the cat")):
        assert 0 < token._.g2g_head_prob <= 1
        assert 0 < token._.g2g_dep_prob <= 1


@forks
@pytest.mark.parametrize("row", ROWS)
def test_several_processes_parse_as_one(row: str, trained_rows: Callable[[str], Path]):
    nlp = spacy.load(trained_rows(row))
    expected = [tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab))]
    found = nlp.pipe(treebank_docs(nlp.vocab), n_process=2, batch_size=5)
    assert [tree_of(doc) for doc in found] == expected


# What can't be learned


@pytest.mark.parametrize("row", ["DepTr", "G2GTr"])
def test_without_swap_non_projective_sentences_are_left_out_with_one_counted_warning(row: str):
    nlp = make_nlp(row=row)
    with pytest.warns(UserWarning, match=r"W804.*'g2g_parser'.* 2 of 10 sentences.*swap = false") as caught:
        nlp.initialize(lambda: treebank_examples(nlp))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        examples = treebank_examples(nlp)
        optimizer = nlp.create_optimizer()
        all_of_them = nlp.update(examples, sgd=None, drop=0.0)["g2g_parser"]
        left = [examples[i] for i in range(10) if i not in NON_PROJECTIVE]
        assert all_of_them > 0
        assert nlp.update([examples[3]], sgd=optimizer, losses={}, drop=0.0) == {"g2g_parser": 0.0}
    assert len(left) == 8


@pytest.mark.parametrize("row", ROWS)
def test_with_swap_all_sentences_are_learned_without_a_warning(row: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        initialized_nlp(row=row)


@pytest.mark.parametrize(
    ("row", "label"),
    [("SentTr", ""), ("Stack-c", "root")],  # one word is missing, or has the root's label within the tree
)
def test_sentences_without_heads_are_not_counted_and_incomplete_ones_are(row: str, label: str):
    nlp = make_nlp(row=row)
    examples = treebank_examples(nlp)[:4]
    examples[1].reference[0].dep_ = label
    examples.append(Example(plain_doc(nlp.vocab, "x y"), plain_doc(nlp.vocab, "x y")))
    with pytest.warns(UserWarning, match=r"W804.* 1 of 4 sentences"):
        nlp.initialize(lambda: examples)
    losses = nlp.update(examples[1:2], sgd=nlp.create_optimizer(), losses={}, drop=0.0)
    assert losses == {"g2g_parser": 0.0}


@pytest.mark.parametrize("row", ["DepTr", "G2GTr"])
def test_a_treebank_of_which_nothing_can_be_learned_is_an_error(row: str):
    nlp = make_nlp(row=row)
    examples = treebank_examples(nlp)
    with pytest.raises(ValueError, match=r"E810.*'g2g_parser'.*none of the 2 sentences.*swap = false"):
        nlp.initialize(lambda: [examples[i] for i in NON_PROJECTIVE])


def test_parsers_without_transitions_learn_from_all_trees_without_a_warning():
    nlp = make_nlp()
    examples = treebank_examples(nlp)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: [examples[i] for i in NON_PROJECTIVE])


# Settings


@pytest.mark.parametrize(
    ("row", "settings", "name"),
    [
        ("SentTr", {"output": "cls"}, "output"),
        ("SentTr", {"composition": True}, "composition"),
        ("SentTr", {"history": None}, "history"),
        ("StateTr", {"refresh_every": 2}, "refresh_every"),
        ("StateTr", {"output": "both"}, "output"),
        ("StateTr", {"history": "tags"}, "history"),
        ("StateTr", {"pooling": "last"}, "pooling"),
        ("StateTr", {"beam_width": "many"}, "beam_width"),
        ("Stack-c", {"state_heads": ["queue"]}, "state_heads"),
        ("Stack-c", {"state_heads": "stack"}, "state_heads"),
        ("Stack-c", {"tag_attr": "POS"}, "tag_attr"),
        ("Stack-c", {"shift_labels": "many"}, "shift_labels"),
    ],
)
def test_settings_that_an_architecture_does_not_have_are_a_config_error_that_names_them(
    row: str, settings: dict[str, Any], name: str
):
    with pytest.raises((ConfigValidationError, ValueError), match=name):
        make_nlp(row=row, **settings)


def test_an_architecture_that_there_is_not_is_an_error_that_names_those_there_are():
    config = {"model": {"@architectures": "spacy_g2g.SentenceTr.v1"}}
    with pytest.raises(Exception, match=r"SentenceTr(.|\n)*spacy_g2g.SentTr.v1"):
        spacy.blank("xx").add_pipe("g2g_parser", config=config)


# Encoders


@pytest.mark.parametrize("row", [*ROWS, "StateCLSTr"])
def test_rows_start_from_a_checkpoint_and_read_all_words_as_they_are(row: str, tmp_path: Path):
    nlp = make_nlp(**settings_of(row, unknown_share=0.5))
    parser = parser_of(nlp)
    parser.initialize(lambda: treebank_examples(nlp), encoder=partial(pretrained, n_segments=2))
    spec = get_shim(parser.model).spec
    assert spec is not None
    assert spec.pretrained == ("encoder",)
    assert spec.learned.get("rare_words", []) == []
    first, last = (nlp.update(treebank_examples(nlp), sgd=nlp.resume_training(), losses={}) for _ in range(2))
    assert last["g2g_parser"] > 0
    assert first["g2g_parser"] > 0
    Kept(nlp, row_docs).check(through_disk, tmp_path)
