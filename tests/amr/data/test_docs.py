import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_g2g.amr.data.docs import (
    doc_from_amr,
    get_amr_ids,
    get_amrs,
    gold_amrs,
    match_sentences,
    sentences_of,
    set_amr_extensions,
)
from spacy_g2g.amr.evaluation.smatch import to_triples
from spacy_g2g.amr.formats.amr_file import AmrBlock
from spacy_g2g.amr.formats.penman_text import format_penman, parse_penman, without_markers

set_amr_extensions()
NLP = spacy.blank("en")
BARK = "(b / bark-01\n   :ARG0 (d / dog))"
SLEEP = "(s / sleep-01\n   :ARG0 (c / cat))"
MARKED = '(b / bark-01~e.2 :ARG0~e.0 (d / dog~e.1 :name (n / name :op1 "a~e.1 (b"~e.0,1)))'


def two_sentences() -> Doc:
    words = ["Dogs", "bark", ".", "Cats", "sleep", "."]
    doc = Doc(NLP.vocab, words=words, sent_starts=[True, False, False, True, False, False])
    doc._.amr = [BARK, SLEEP]
    return doc


def block(text: str = BARK, **metadata: str) -> AmrBlock:
    return AmrBlock(text, parse_penman(text), metadata, "file, line 1, id (none)")


def through_bytes(doc: Doc) -> Doc:
    return Doc(NLP.vocab).from_bytes(doc.to_bytes())


def through_doc_bin(doc: Doc) -> Doc:
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(NLP.vocab))


def through_json(doc: Doc) -> Doc:
    return Doc(NLP.vocab).from_json(doc.to_json(underscore=["amr"]))


@pytest.mark.parametrize("travel", [through_bytes, through_doc_bin, through_json, Doc.copy])
def test_amrs_survive_what_a_doc_goes_through(travel):
    doc = travel(two_sentences())
    assert get_amrs(doc) == [BARK, SLEEP]
    assert [sentence._.amr for sentence in doc.sents] == [BARK, SLEEP]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_survives_a_doc_bin(texts):
    doc = Doc(NLP.vocab, words=["w"] * len(texts), sent_starts=[True] * len(texts))
    doc._.amr = texts
    assert get_amrs(through_doc_bin(doc)) == texts


def test_a_doc_without_boundaries_is_one_sentence_and_an_empty_one_none():
    doc = Doc(NLP.vocab, words=["Dogs", "bark"])
    assert [(span.start, span.end) for span in sentences_of(doc)] == [(0, 2)]
    assert get_amrs(doc) is None
    doc._.amr = [BARK]
    assert get_amrs(doc) == [BARK]
    assert doc[1:2]._.amr == BARK
    empty = Doc(NLP.vocab)
    empty._.amr = []
    assert (sentences_of(empty), get_amrs(empty), empty._.amr_graphs) == ([], [], [])


def test_a_span_has_the_amr_of_its_sentence():
    doc = two_sentences()
    assert doc[4:6]._.amr == SLEEP
    assert doc[0:3]._.amr == BARK
    assert doc[2:4]._.amr is None
    doc._.amr = [BARK]
    assert doc[0:3]._.amr is None
    doc._.amr = None
    assert doc[0:3]._.amr is None


def test_graphs_are_read_with_edges_in_their_forward_direction():
    doc = Doc(NLP.vocab, words=["barking", "dogs"])
    assert doc._.amr_graphs is None
    doc._.amr = ["(d / dog :ARG0-of (b / bark-01) :consist-of (c / cat))"]
    (graph,) = doc._.amr_graphs
    assert graph.top == "d"
    assert [(edge.source, edge.role, edge.target) for edge in graph.edges()] == [
        ("b", ":ARG0", "d"),
        ("d", ":consist-of", "c"),
    ]


def test_an_ill_formed_amr_has_no_graph_but_an_error_that_names_it():
    doc = two_sentences()
    doc._.amr = [BARK, "(s / sleep-01"]
    with pytest.raises(ValueError, match=r"E1002.*doc\._\.amr, sentence 2.*\(s / sleep-01"):
        _ = doc._.amr_graphs


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *((value, r"E1017.*bark") for value in (BARK, [BARK, None], {"amr": BARK})),
        ([BARK], r"E1018.* 1 AMR.*2 s"),
    ],
)
def test_a_value_that_is_not_a_text_for_each_sentence_is_an_error(value, error):
    doc = two_sentences()
    doc._.amr = value
    with pytest.raises(ValueError, match=error):
        get_amrs(doc)


def test_extensions_are_set_once():
    set_amr_extensions()
    doc = two_sentences()
    set_amr_extensions()
    assert doc._.amr == [BARK, SLEEP]


def gold_of(words: list[str], starts: list[int] | None, reference: Doc) -> list[str | None]:
    given = None if starts is None else [i in starts for i in range(len(words))]
    predicted = Doc(NLP.vocab, words=words, sent_starts=given)
    spans = [(span.start, span.end) for span in sentences_of(predicted)]
    return gold_amrs(Example(predicted, reference), spans)


def test_gold_amrs_are_those_of_sentences_with_the_same_text():
    words = ["Dogs", "bark", ".", "Cats", "sleep", "."]
    assert gold_of(words, [0, 3], two_sentences()) == [BARK, SLEEP]
    assert gold_of(words, None, two_sentences()) == [None]
    assert gold_of(words, [0, 2, 3], two_sentences()) == [None, None, SLEEP]
    assert gold_of(["Dogs", "bark.", "Cats", "sleep", "."], [0, 2], two_sentences()) == [BARK, SLEEP]
    assert gold_of(["dogs", *words[1:]], [0, 3], two_sentences()) == [None, SLEEP]
    assert gold_of(["Dogs", "bark"], [0], Doc(NLP.vocab, words=["Dogs", "bark"])) == [None]


def test_markers_that_count_other_words_are_left_out():
    reference = Doc(NLP.vocab, words=["Dogs", "bark"], sent_starts=[True, False])
    reference._.amr = ["(b / bark-01~e.1 :ARG0 (d / dog~e.0))"]
    assert gold_of(["Dogs", "bark"], [0], reference) == reference._.amr
    assert gold_of(["Do", "gs", "bark"], [0], reference) == ["(b / bark-01 :ARG0 (d / dog))"]


def test_white_space_takes_no_part_in_finding_gold():
    words = [" ", "Dogs", "bark", "\n", ".", "Cats", "sleep", ".", "\n"]
    assert gold_of(words, [0, 5], two_sentences()) == [BARK, SLEEP]
    assert gold_of(words, [0, 5, 8], two_sentences()) == [BARK, SLEEP, None]


def test_equal_sentences_are_told_apart_by_their_place():
    reference = Doc(NLP.vocab, words=["Go", "Go"], sent_starts=[True, True])
    reference._.amr = ["(g / go-01)", "(g / go-02)"]
    assert gold_of(["Go", "Go"], [0, 1], reference) == ["(g / go-01)", "(g / go-02)"]
    predicted = Doc(NLP.vocab, words=["Go", "Go"], sent_starts=[True, True])
    assert gold_amrs(Example(predicted, reference), [(1, 2)]) == ["(g / go-02)"]


def test_each_sentence_of_white_space_matches_one():
    doc = Doc(NLP.vocab, words=["\n", "\n", "Go"], sent_starts=[True] * 3)
    spans = [(i, i + 1) for i in range(3)]
    assert match_sentences(Example(doc.copy(), doc), spans) == [0, 1, 2]


def test_a_doc_of_a_block_has_its_words_text_amr_and_id():
    doc = doc_from_amr(block(id="a.1", snt="Dogs  bark.", tok="Dogs bark ."), NLP.vocab)
    assert [token.text for token in doc] == ["Dogs", "bark", "."]
    assert doc.text == "Dogs bark."
    assert len(list(doc.sents)) == 1
    assert doc.has_annotation("SENT_START")
    assert doc._.amr == [BARK]
    assert get_amr_ids(doc) == get_amr_ids(through_doc_bin(doc)) == ["a.1"]


def test_a_doc_without_id_or_with_other_sentences_has_no_ids():
    assert get_amr_ids(doc_from_amr(block(snt="Dogs bark"), NLP.vocab)) is None
    doc = doc_from_amr(block(id="a.1", snt="Dogs bark"), NLP.vocab)
    doc[1].is_sent_start = True
    assert get_amr_ids(doc) is None


def test_words_that_are_not_those_of_the_text_have_unknown_spaces():
    doc = doc_from_amr(block(snt="B-Raf", tok="B @-@ Raf"), NLP.vocab)
    assert [token.text for token in doc] == ["B", "@-@", "Raf"]
    assert doc.has_unknown_spaces


def test_words_are_those_of_the_tokenizer_where_the_file_has_none():
    raw = block(MARKED, snt="Dogs don't bark.")
    assert [token.text for token in doc_from_amr(raw, NLP.vocab)] == ["Dogs", "don't", "bark."]
    english = doc_from_amr(raw, NLP.vocab, NLP.tokenizer)
    assert [token.text for token in english] == ["Dogs", "do", "n't", "bark", "."]
    assert english.text == "Dogs don't bark."


def test_markers_of_alignments_stay_with_the_words_that_they_count_only():
    kept = doc_from_amr(block(MARKED, snt="The dogs bark"), NLP.vocab)
    assert "bark-01~e.2" in kept._.amr[0]
    removed = doc_from_amr(block(MARKED, snt="The dogs bark"), NLP.vocab, NLP.tokenizer)
    assert removed._.amr == [format_penman(parse_penman(without_markers(MARKED)))]
    assert without_markers(MARKED) == ('(b / bark-01 :ARG0 (d / dog :name (n / name :op1 "a~e.1 (b")))')


def test_a_block_without_words_is_an_error_that_says_where():
    with pytest.raises(ValueError, match=r"E1019.*file, line 1"):
        doc_from_amr(block(id="a.1", snt=" "), NLP.vocab)


@pytest.mark.parametrize(
    "text", [BARK, MARKED, '(a / b :op1 "(" :mod 5 :ARG0-of (c / c :ARG1 a) :polarity -)']
)
def test_a_normal_amr_says_the_same_over_several_lines(text: str):
    normal = format_penman(parse_penman(text))
    assert to_triples(parse_penman(normal)) == to_triples(parse_penman(text))
    assert format_penman(parse_penman(normal)) == normal
    assert "\n   :" in normal
