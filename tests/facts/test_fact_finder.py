# ruff: noqa: RUF001
"""``fact_finder``: facts of small trees in three languages, and of any tree at all."""

import json

import pandas as pd
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_g2g.data.doc_record import doc_of_record, make_record, own_facts, own_record
from spacy_g2g.data.multiword import mark_words
from spacy_g2g.data.token_check import TOKENS
from spacy_g2g.facts.clauses import MAX_FACTS
from spacy_g2g.facts.fact import ROW

#: A word is FORM/UPOS/HEAD/DEPREL, with a lemma after "=" and features after "+".
CASES = {
    "subject and object": ("Ann/PROPN/2/nsubj saw=see/VERB/0/root him/PRON/2/obj", ["Ann | see | him"]),
    "indirect object": (
        "Ann/PROPN/2/nsubj gave=give/VERB/0/root Bob/PROPN/2/iobj tea/NOUN/2/obj",
        ["Ann | give | tea | Bob"],
    ),
    "particle": (
        "look=look/VERB/0/root the/DET/3/det word/NOUN/1/obj up/ADP/1/compound:prt",
        ["- | look up | the word"],
    ),
    "conjuncts": (
        "Ann/PROPN/4/nsubj and/CCONJ/3/cc Bob/PROPN/1/conj make/VERB/0/root tea/NOUN/4/obj",
        ["Ann | make | tea", "Bob | make | tea"],
    ),
    "passive": (
        "tea/NOUN/3/nsubj:pass was=be/AUX/3/aux:pass made=make/VERB/0/root by/ADP/5/case Ann/PROPN/3/obl",
        ["Ann | make | tea"],
    ),
    "passive with an object": (
        "she/PRON/3/nsubj:pass was=be/AUX/3/aux:pass given=give/VERB/0/root tea/NOUN/3/obj",
        ["- | give | tea | she"],
    ),
    "negation": ("she/PRON/3/nsubj did/AUX/3/aux go/VERB/0/root not/PART/3/advmod", ["she | not go"]),
    "negative argument": ("no/DET/2/det dogs/NOUN/3/nsubj bark/VERB/0/root", ["no dogs | not bark"]),
    "shared negation": (
        "it/PRON/4/nsubj did/AUX/4/aux not/PART/4/advmod eat/VERB+VerbForm=Inf/0/root or/CCONJ/6/cc "
        "drink/VERB+VerbForm=Inf/4/conj",
        ["it | not eat", "it | not drink"],
    ),
    "question": (
        "who/PRON/2/nsubj wrote=write/VERB/0/root it/PRON/2/obj ?/PUNCT/2/punct",
        ["who | write | it ?"],
    ),
    "copula": (
        "Ann/PROPN/4/nsubj is=be/AUX/4/cop a/DET/4/det doctor/NOUN/0/root in/ADP/6/case Rome/PROPN/4/nmod",
        ["Ann | be | a doctor in Rome"],
    ),
    "place with a copula": (
        "Ann/PROPN/4/nsubj is=be/AUX/4/cop in/ADP/4/case Rome/PROPN/0/root",
        ["Ann | be | in Rome"],
    ),
    "copula of a clause": (
        "problem/NOUN/5/nsubj:outer is=be/AUX/5/cop that/SCONJ/5/mark it/PRON/5/nsubj leaks=leak/VERB/0/root",
        ["it | leak", "problem | be | it leaks"],
    ),
    "possessor": (
        "Ann/PROPN/3/nmod:poss 's/PART/1/case cat/NOUN/4/nsubj sleeps=sleep/VERB/0/root",
        ["Ann | have | cat", "Ann 's cat | sleep"],
    ),
    "details": (
        "she/PRON/2/nsubj slept=sleep/VERB/0/root well/ADV/2/advmod in/ADP/5/case Rome/PROPN/2/obl "
        "because/SCONJ/7/mark rained=rain/VERB/2/advcl",
        ["she | sleep | well | in: Rome | because: rained"],
    ),
    "control": (
        "she/PRON/2/nsubj wants=want/VERB/0/root to/PART/4/mark go/VERB+VerbForm=Inf/2/xcomp",
        ["she | want | go", "she | go"],
    ),
    "semi-auxiliary": (
        "she/PRON/2/nsubj has=have/VERB/0/root to/PART/4/mark go/VERB+VerbForm=Inf/2/xcomp",
        ["she | go"],
    ),
    "relative clause": (
        "men/NOUN/0/root who/PRON+PronType=Rel/3/nsubj sang=sing/VERB/1/acl:relcl",
        ["men | sing"],
    ),
    "relative clause without a pronoun": (
        "facts/NOUN/0/root you/PRON/3/nsubj need/VERB/1/acl:relcl",
        ["you | need | facts"],
    ),
    "participles": (
        "people/NOUN/0/root living=live/VERB+VerbForm=Ger/1/acl in/ADP/4/case houses/NOUN/2/obl "
        "built=build/VERB+VerbForm=Part|Tense=Past/4/acl",
        ["people | live | in: houses", "- | build | houses"],
    ),
    "two objects by one verb": (
        "eat/VERB/0/root tea/NOUN/1/obj and/CCONJ/4/cc milk/NOUN/2/conj",
        ["- | eat | tea", "- | eat | milk"],
    ),
}
FRENCH = {
    "agent and negation": (
        "Le/DET/2/det livre/NOUN/5/nsubj:pass n'=ne/ADV+Polarity=Neg/5/advmod est=être/AUX/5/aux:pass "
        "lu=lire/VERB/0/root pas/ADV+Polarity=Neg/5/advmod par/ADP/8/case Ann/PROPN/5/obl:agent",
        ["Ann | not lire | Le livre"],
    ),
    "only": (
        "Elle/PRON/3/nsubj ne/ADV+Polarity=Neg/3/advmod boit=boire/VERB/0/root que/ADV/5/advmod "
        "thé/NOUN/3/obj",
        ["Elle | boire | que thé"],
    ),
    "possessor": (
        "Son/DET+Poss=Yes/2/det chat/NOUN/3/nsubj dort=dormir/VERB/0/root",
        ["Son | have | chat", "Son chat | dormir"],
    ),
}
TURKISH = {
    "cases": (
        "Ali/PROPN+Case=Nom/3/nsubj evde=ev/NOUN+Case=Loc/3/obl uyumadı=uyu/VERB+Polarity=Neg/0/root",
        ["Ali | not uyu | loc: evde"],
    ),
    "passive and question": (
        "Kapı/NOUN+Case=Nom/4/nsubj Ali/PROPN/4/obl tarafından/ADP/2/case açıldı=aç/VERB+Voice=Pass/0/root "
        "mı=mi/AUX/4/aux:q",
        ["Ali | aç | Kapı ?"],
    ),
    "no copula": ("Ev/NOUN+Case=Nom/2/nsubj büyük/ADJ/0/root", ["Ev | be | büyük"]),
}
LANGUAGES = {"en": CASES, "fr": FRENCH, "tr": TURKISH}
ALL = [(lang, *case) for lang, cases in LANGUAGES.items() for case in cases.values()]
NAMES = [f"{lang}: {name}" for lang, cases in LANGUAGES.items() for name in cases]


def finder(lang: str = "en") -> spacy.language.Language:
    nlp = spacy.blank(lang)
    nlp.add_pipe("fact_finder")
    return nlp


def doc_of(nlp: spacy.language.Language, tree: str) -> Doc:
    columns: dict[str, list] = {name: [] for name in ("words", "lemmas", "pos", "morphs", "heads", "deps")}
    for i, word in enumerate(tree.split()):
        form, tags, head, dep = word.rsplit("/", 3)
        form, _, lemma = form.partition("=")
        pos, _, feats = tags.partition("+")
        values = (form, lemma or form.lower(), pos, feats, int(head) - 1 if head != "0" else i, dep)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return Doc(nlp.vocab, **columns)


def facts_of(lang: str, tree: str) -> list:
    nlp = finder(lang)
    return nlp(doc_of(nlp, tree))._.g2g_facts


@pytest.mark.parametrize(("lang", "tree", "expected"), ALL, ids=NAMES)
def test_trees_state_facts(lang: str, tree: str, expected: list[str]) -> None:
    assert sorted(map(str, facts_of(lang, tree))) == sorted(expected)


SAYS = "Ann/PROPN/2/nsubj says=say/VERB/0/root that/SCONJ/5/mark Bob/PROPN/5/nsubj left=leave/VERB/2/ccomp"


def test_a_fact_tells_who_says_it() -> None:
    said, left = facts_of("en", SAYS)
    assert (said.source, said.clause.text) == (None, "Bob left")
    assert (left.source.text, left.governor, left.subject.text) == ("Ann", "say", "Bob")
    beside = (
        "Bob/PROPN/2/nsubj left=leave/VERB/0/root ,/PUNCT/5/punct she/PRON/5/nsubj said=say/VERB/2/parataxis"
    )
    assert [(str(fact.source), fact.governor) for fact in facts_of("en", beside)] == [
        ("she", "say"),
        ("None", ""),
    ]
    laut = "secondo/ADP/2/case Ann/PROPN/4/obl Bob/PROPN/4/nsubj dorme=dormire/VERB/0/root"
    assert [fact.source.text for fact in facts_of("it", laut)] == ["Ann"]


def test_tense_and_mood_are_those_of_the_finite_verb() -> None:
    has = "has=have/AUX+Mood=Ind|Tense=Pres|VerbForm=Fin/3/aux"
    tree = f"she/PRON/3/nsubj {has} gone=go/VERB+VerbForm=Part/0/root"
    (fact,) = facts_of("en", tree)
    assert (fact.tense, fact.mood, fact.auxiliaries) == ("Pres", "Ind", "have")


def test_a_probability_is_that_of_the_arcs_of_the_fact() -> None:
    nlp = finder()
    (fact,) = nlp(doc_of(nlp, CASES["subject and object"][0]))._.g2g_facts
    assert fact.probability is None
    nlp.add_pipe("g2g_parser", first=True)  # It registers the attributes.
    nlp.remove_pipe("g2g_parser")
    doc = doc_of(nlp, CASES["subject and object"][0])
    for token, prob in zip(doc, (0.5, 0.9, 0.8), strict=True):
        token._.g2g_head_prob, token._.g2g_dep_prob = prob, 0.5
    (fact,) = nlp(doc)._.g2g_facts
    assert fact.probability == pytest.approx(0.5 * 0.5 * 0.8 * 0.5)


def test_facts_are_those_of_the_graph_that_a_doc_has() -> None:
    nlp = finder()
    doc = doc_of(nlp, CASES["subject and object"][0])
    doc._.g2g_enhanced = [[(1, "obj")], [(1, "root")], [(1, "nsubj")]]
    assert [*map(str, nlp(doc)._.g2g_facts)] == ["him | see | Ann"]


def test_rows_make_a_table_and_travel_with_the_doc() -> None:
    nlp = finder()
    doc = nlp(doc_of(nlp, SAYS))
    table = pd.DataFrame(fact.row for fact in doc._.g2g_facts)
    assert set(table.columns) == set(ROW)
    assert [*table.subject] == ["Ann", "Bob"]
    record = make_record(doc, ("words", "spaces", "facts"))
    copies = [Doc(nlp.vocab).from_bytes(doc.to_bytes()), doc_of_record(record, nlp.vocab)]
    copies += DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    for copy in copies:
        assert [*map(str, copy._.g2g_facts)] == [*map(str, doc._.g2g_facts)]


def test_json_and_parquet_have_the_rows() -> None:
    nlp = finder()
    doc = nlp(doc_of(nlp, SAYS))
    rows = [fact.row for fact in doc._.g2g_facts]
    assert json.loads(json.dumps(own_record(doc)))["facts"] == rows
    table = pytest.importorskip("spacy_g2g.corpus_job.table", reason="pyarrow is not installed")
    documents = pytest.importorskip("spacy_g2g.corpus_job.documents")
    assert table.annotations_of(nlp) == ("facts",)
    schema = table.make_schema(("facts",), keep=(), text=False)
    written = table.docs_to_table([(documents.Document("a", 0, doc), doc)], schema, ())
    assert written["facts"][0].as_py() == [{name: row[name] for name in ROW} for row in rows]


def test_facts_are_removed_if_tokens_change() -> None:
    nlp = finder()
    doc = nlp(doc_of(nlp, SAYS))
    assert doc.user_data["g2g_facts"][TOKENS]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.warns(UserWarning, match="G2G-W560"):
        assert doc._.g2g_facts is None


def test_words_of_a_cut_token_have_their_forms() -> None:
    nlp = finder("fr")
    tree = "Ann/PROPN/2/nsubj parle=parler/VERB/0/root d=de/ADP/5/case u=le/DET/5/det chat/NOUN/2/obl"
    doc = doc_of(nlp, tree)
    doc = Doc(
        nlp.vocab,
        [t.text for t in doc],
        [True, True, False, True, False],
        lemmas=[t.lemma_ for t in doc],
        pos=[t.pos_ for t in doc],
        heads=[t.head.i for t in doc],
        deps=[t.dep_ for t in doc],
    )
    mark_words(doc, [(2, 4)], ["de", "le"])
    (fact,) = nlp(doc)._.g2g_facts
    assert fact.row["details"] == [{"marker": "de", "text": "le chat", "tokens": [3, 5]}]


def test_bad_input_is_an_error_or_states_nothing() -> None:
    nlp = finder()
    assert nlp("")._.g2g_facts == nlp(" \n ")._.g2g_facts == []
    assert spacy.blank("en")("she left")._.g2g_facts is None
    with pytest.raises(ValueError, match="G2G-E824"):
        nlp("she left")
    with pytest.raises(ValueError, match=r"G2G-E827.*dobj"):
        facts_of("en", "she/PRON/2/nsubj saw/VERB/0/root him/PRON/2/dobj")
    assert facts_of("en", "yes/INTJ/0/root ,/PUNCT/1/punct thanks/NOUN/1/parataxis") == []
    quoted = '"/PUNCT/3/punct I/PRON/3/nsubj left/VERB/0/root and/CCONJ/5/cc ate/VERB/3/conj'
    assert [*map(str, facts_of("en", quoted))] == ["I | left", "I | ate"]


def test_a_sentence_of_500_predicates_and_one_of_500_arguments_take_no_longer() -> None:
    many = " ".join(f"w/VERB/{max(i, 1) if i else 0}/{'conj' if i else 'root'}" for i in range(500))
    assert len(facts_of("en", f"{many} x/NOUN/1/obj")) == 1
    chain = "w/VERB/0/root " + " ".join(f"w/VERB/{i}/ccomp" for i in range(1, 500))
    assert len(facts_of("en", chain)) == 499
    wide = "v/VERB/0/root " + " ".join(["s/NOUN/1/nsubj", "o/NOUN/1/obj"] * 250)
    assert len(facts_of("en", wide)) == MAX_FACTS


DEPS = [
    *(
        "nsubj",
        "nsubj:pass",
        "nsubj:outer",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "obl:agent",
        "advcl",
    ),
    *(
        "advmod",
        "aux",
        "aux:pass",
        "aux:q",
        "cop",
        "conj",
        "cc",
        "case",
        "mark",
        "punct",
        "acl",
        "acl:relcl",
        "det",
    ),
    *("nmod:poss", "compound:prt", "parataxis", "expl", "", "root"),
]
WORDS = st.tuples(
    st.sampled_from(["say", "have", "no", "?", "w", "\n", "by"]),
    st.sampled_from(["NOUN", "VERB", "AUX", "ADJ", "PRON", "PUNCT", ""]),
    st.sampled_from(["", "VerbForm=Inf", "VerbForm=Part|Tense=Past", "Case=Loc", "Poss=Yes", "Polarity=Neg"]),
    st.integers(0, 11),
    st.sampled_from(DEPS),
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.sets(st.integers(1, 11)))
def test_spans_of_any_tree_are_in_their_sentence(words: list, starts: set[int]) -> None:
    nlp = finder()
    n = len(words)
    forms, pos, morphs, heads, deps = (list(column) for column in zip(*words, strict=True))
    doc = Doc(nlp.vocab, forms, pos=pos, morphs=morphs)
    begins = sorted({0, *(start for start in starts if start < n)})
    ends = [*begins[1:], n]
    for begin, end in zip(begins, ends, strict=True):
        for i in range(begin, end):  # heads lead to earlier words, so there is no cycle
            head = begin + heads[i] % (i - begin) if i > begin else i
            heads[i] = head
    doc = Doc(nlp.vocab, forms, pos=pos, morphs=morphs, heads=heads, deps=[dep or "dep" for dep in deps])
    for fact in nlp(doc)._.g2g_facts:
        spans = [fact.verb, fact.subject, fact.object, fact.indirect_object, fact.clause, fact.source]
        for span in [*spans, *(span for _, span in fact.details)]:
            assert span is None or (len(span) and span.sent.start <= span.start < span.end <= span.sent.end)
    rows = own_facts(doc) or []
    assert all(set(row) == set(ROW) for row in rows)
