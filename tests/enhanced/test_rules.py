"""Enhanced graphs by rules: small trees in each of them, and treebanks beside the repository."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_g2g.data.enhanced import deps_cell
from spacy_g2g.enhanced.conventions import LANGUAGES, Conventions
from spacy_g2g.enhanced.rules import Enhancer, Word, enhance
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu

from ..formats.samples import shared_treebank

#: A word is FORM/UPOS/HEAD/DEPREL, with features behind its part of speech; then the arcs that the rules add.
CASES = {
    "marker": ("he/PRON/2/nsubj sat/VERB/0/root on/ADP/5/case the/DET/5/det mat/NOUN/2/obl", {5: "2:obl:on"}),
    "last marker": (
        "he/PRON/2/nsubj ran/VERB/0/root out/ADP/4/case of/ADP/5/case town/NOUN/2/obl",
        {4: "5:case", 5: "2:obl:of"},
    ),
    "marker of several words": (
        "we/PRON/2/nsubj stay/VERB/0/root because/ADP/5/case of/ADP/3/fixed rain/NOUN/2/obl",
        {5: "2:obl:because_of"},
    ),
    "no marker in symbols": ("a/NOUN/0/root //SYM/3/case b/NOUN/1/nmod", {3: "1:nmod"}),
    "possessor": ("Kim/PROPN/3/nmod:poss 's/PART/1/case cat/NOUN/0/root", {1: "3:nmod:poss"}),
    "shared head": (
        "tea/NOUN/4/nsubj and/CCONJ/3/cc milk/NOUN/1/conj mix/VERB/0/root",
        {3: "1:conj:and|4:nsubj"},
    ),
    "coordinator of a later conjunct": (
        "tea/NOUN/0/root milk/NOUN/1/conj or/CCONJ/4/cc rum/NOUN/1/conj",
        {2: "1:conj:or", 4: "1:conj:or"},
    ),
    "marker of the conjunct": (
        "go/VERB/0/root to/ADP/3/case Rome/PROPN/1/obl or/CCONJ/6/cc from/ADP/6/case Pisa/PROPN/3/conj",
        {3: "1:obl:to", 6: "1:obl:from|3:conj:or"},
    ),
    "shared subject": (
        "she/PRON/2/nsubj came/VERB/0/root and/CCONJ/5/cc was/AUX/5/aux:pass seen/VERB/2/conj",
        {1: "2:nsubj|5:nsubj:pass", 5: "2:conj:and"},
    ),
    "own subject": (
        "she/PRON/2/nsubj came/VERB/0/root and/CCONJ/5/cc he/PRON/5/nsubj left/VERB/2/conj",
        {1: "2:nsubj", 5: "2:conj:and"},
    ),
    "subject control": (
        "she/PRON/2/nsubj wants/VERB/0/root to/PART/4/mark go/VERB/2/xcomp",
        {1: "2:nsubj|4:nsubj:xsubj"},
    ),
    "object control": (
        "she/PRON/2/nsubj saw/VERB/0/root him/PRON/2/obj go/VERB/2/xcomp",
        {1: "2:nsubj", 3: "2:obj|4:nsubj:xsubj"},
    ),
    "control of conjuncts": (
        "we/PRON/2/nsubj want/VERB/0/root to/PART/4/mark go/VERB/2/xcomp and/CCONJ/6/cc see/VERB/4/conj",
        {1: "2:nsubj|4:nsubj:xsubj|6:nsubj:xsubj", 6: "2:xcomp|4:conj:and"},
    ),
    "relative clause": (
        "men/NOUN/0/root who/PRON+PronType=Rel/3/nsubj sang/VERB/1/acl:relcl",
        {1: "0:root|3:nsubj", 2: "1:ref"},
    ),
    "relative clause without pronoun": (
        "men/NOUN/0/root we/PRON/3/nsubj saw/VERB/1/acl:relcl",
        {1: "0:root|3:obj"},
    ),
    "relative clause without pronoun or subject": (
        "what/PRON/0/root happens/VERB/1/acl:relcl",
        {1: "0:root|2:nsubj"},
    ),
    "object of a complement in a relative clause": (
        "men/NOUN/0/root we/PRON/3/nsubj want/VERB/1/acl:relcl to/PART/5/mark see/VERB/3/xcomp",
        {1: "0:root|5:obj", 2: "3:nsubj|5:nsubj:xsubj"},
    ),
    "relative clause about a time": ("day/NOUN/0/root we/PRON/3/nsubj came/VERB/1/acl:relcl", {}),
    "relative clause with a preposition": (
        "men/NOUN/0/root we/PRON/3/nsubj spoke/VERB/1/acl:relcl to/ADP/3/obl",
        {},
    ),
    "pronoun of both kinds": (
        "muž/NOUN/0/root který/DET+PronType=Int,Rel/3/nsubj zpíval/VERB/1/acl:relcl",
        {1: "0:root|3:nsubj", 2: "1:ref"},
    ),
}


def words_of(tree: str) -> list[Word]:
    words = []
    for word in tree.split():
        form, tags, head, dep = word.rsplit("/", 3)
        upos, _, feats = tags.partition("+")
        words.append(Word(form, form.lower(), upos, feats or "_", int(head), dep))
    return words


def cells_of(words: list[Word], conventions: Conventions | str = "en") -> list[str]:
    return [deps_cell(arcs) for arcs in enhance(words, conventions)]


@pytest.mark.parametrize(("tree", "added"), CASES.values(), ids=CASES)
def test_rules_add_what_a_tree_leaves_out(tree: str, added: dict[int, str]) -> None:
    words = words_of(tree)
    expected = {i: f"{word.head}:{word.deprel}" for i, word in enumerate(words, start=1)} | added
    assert cells_of(words) == [*expected.values()]


def test_languages_differ() -> None:
    controlled = words_of("she/PRON/2/nsubj wants/VERB/0/root to/PART/4/mark go/VERB/2/xcomp")
    assert [cells_of(controlled, lang)[0] for lang in ("en", "sv", "nl", "xx")] == [
        "2:nsubj|4:nsubj:xsubj",
        "2:nsubj|4:nsubj",
        "2:nsubj|4:nsubj:xsubj",
        "2:nsubj|4:nsubj:xsubj",
    ]
    relative = words_of("men/NOUN/0/root die/PRON+PronType=Rel/3/nsubj zingen/VERB/1/acl:relcl")
    assert cells_of(relative, "nl")[0] == "0:root|3:nsubj:relsubj"
    agent = words_of("gezien/VERB/0/root door/ADP/3/case mij/PRON/1/obl:agent")
    assert [cells_of(agent, lang)[2] for lang in ("en", "nl")] == ["1:obl:agent:door", "1:obl:agent"]


#: Conventions, a tree, and the arcs that the rules add by them, as in CASES.
OTHERS = {
    "case": (
        Conventions(labels=[("obl", "obl:MARKER:CASE")]),
        "jel/VERB/0/root s/ADP/3/case ním/PRON+Case=Ins|Number=Sing/1/obl domů/NOUN/1/obl",
        {3: "1:obl:s:ins"},
    ),
    "case of the marker, if the word has none": (
        Conventions(labels=[("obl", "obl:MARKER:CASE")]),
        "byl/VERB/0/root v/ADP+Case=Loc/3/case ČSSR/PROPN/1/obl",
        {3: "1:obl:v:loc"},
    ),
    "case or marker": (
        Conventions(labels=[("obl", "obl:EITHER")]),
        "iet/VERB/0/root ar/ADP/3/case to/PRON+Case=Acc/1/obl laukā/NOUN+Case=Loc/1/obl",
        {3: "1:obl:ar", 4: "1:obl:loc"},
    ),
    "marker of the first conjunct, case of the second": (
        Conventions(labels=[("obl", "obl:MARKER:CASE")]),
        "v/ADP/2/case Praze/PROPN+Case=Loc/5/obl a/CCONJ/4/cc Brno/PROPN+Case=Acc/2/conj byl/VERB/0/root",
        {2: "5:obl:v:loc", 4: "2:conj|5:obl:v:acc"},
    ),
    "label without its subtype": (
        Conventions(labels=[("compound:prt", "compound")]),
        "läks/VERB/0/root üle/ADV/1/compound:prt",
        {2: "1:compound"},
    ),
    "first marker": (
        Conventions(markers="first"),
        "ran/VERB/0/root out/ADP/4/case of/ADP/4/case town/NOUN/1/obl",
        {4: "1:obl:out"},
    ),
    "all markers": (
        Conventions(markers="all"),
        "ran/VERB/0/root out/ADP/4/case of/ADP/4/case town/NOUN/1/obl",
        {4: "1:obl:out_of"},
    ),
    "first word of a fixed expression": (
        Conventions(fixed=""),
        "stay/VERB/0/root because/ADP/4/case of/ADP/2/fixed rain/NOUN/1/obl",
        {4: "1:obl:because"},
    ),
    "marker of a nominal that is a mark": (
        Conventions(nominal_markers=["case", "mark"]),
        "stay/VERB/0/root than/SCONJ/3/mark Kim/PROPN/1/obl",
        {3: "1:obl:than"},
    ),
    "shared root": (
        Conventions(unshared=["conj"]),
        "come/VERB/0/root go/VERB/1/conj",
        {2: "0:root|1:conj"},
    ),
    "shared modifier": (
        Conventions(shared_modifiers=True),
        "building/NOUN/0/root and/CCONJ/3/cc repair/NOUN/1/conj of/ADP/5/case roads/NOUN/1/nmod",
        {3: "1:conj:and", 5: "1:nmod:of|3:nmod:of"},
    ),
    "label of a shared subject": (
        Conventions(shared_subjects="same"),
        "it/PRON/2/nsubj:pass seen/VERB/0/root went/VERB/2/conj",
        {1: "2:nsubj:pass|3:nsubj:pass"},
    ),
    "no shared subject": (
        Conventions(shared_subjects=""),
        "it/PRON/2/nsubj came/VERB/0/root went/VERB/2/conj",
        {},
    ),
    "arc that the pronoun keeps": (
        Conventions(relatives="kept"),
        "men/NOUN/0/root who/PRON+PronType=Rel/3/nsubj sang/VERB/1/acl:relcl",
        {1: "0:root|3:nsubj", 2: "1:ref|3:nsubj"},
    ),
    "no arc of an antecedent": (
        Conventions(relatives=""),
        "men/NOUN/0/root who/PRON+PronType=Rel/3/nsubj sang/VERB/1/acl:relcl",
        {},
    ),
    "pronoun that may be interrogative": (
        Conventions(pronouns=["PronType=Rel", "PronType=Int"]),
        "мемарыял/NOUN/0/root што/PRON+PronType=Int/3/nsubj стаіць/VERB/1/acl:relcl",
        {1: "0:root|3:nsubj", 2: "1:ref"},
    ),
    "subject of a predicative complement": (
        Conventions(controlled=[("xcomp", "nsubj:xsubj"), ("xcomp:pred", "nsubj:pred")]),
        "it/PRON/2/nsubj became/VERB/0/root ice/NOUN/2/xcomp:pred",
        {1: "2:nsubj|3:nsubj:pred"},
    ),
}


@pytest.mark.parametrize(("conventions", "tree", "added"), OTHERS.values(), ids=OTHERS)
def test_conventions_say_what_a_graph_has(conventions: Conventions, tree: str, added: dict[int, str]) -> None:
    words = words_of(tree)
    expected = {i: f"{word.head}:{word.deprel}" for i, word in enumerate(words, start=1)} | added
    assert cells_of(words, conventions) == [*expected.values()]


def test_words_without_a_label_and_labels_of_no_graph_get_one_that_graphs_may_have() -> None:
    roots = "a/NOUN/0/root b/NOUN/0/root c/NOUN/0/root d/NOUN/0/root e/NOUN/0/root"
    words = words_of(f"{roots} v/VERB/1/acl:relcl w/PRON+PronType=Rel/6/x")
    for label in ("", "_", " "):
        words[6] = words[6]._replace(deprel=label)
        assert cells_of(words)[0] == "0:root|6:dep"
    words[6] = words[6]._replace(deprel="a b|c")
    assert cells_of(words)[0] == "0:root|6:a_b_c"
    for head in (99, -1, 7):
        words[6] = words[6]._replace(head=head)
        assert cells_of(words)[6] == "0:root"


@pytest.mark.parametrize(
    "word",
    [
        "w/NOUN/1/conj",
        "w/NOUN/{before}/conj",
        "w/NOUN/{n}/dep",
        *(f"w/VERB/1/{x}" for x in ("conj", "cop", "acl:relcl", "xcomp")),
    ],
)
def test_graphs_take_time_in_proportion_to_the_sentence(word: str) -> None:
    first = [*words_of("f/NOUN/0/root"), *words_of(" ".join(["s/NOUN/1/nsubj"] * 30))]
    words = first + words_of(" ".join(word.format(n=33 + (i ^ 1), before=31 + i) for i in range(4000)))
    generous = Conventions(unshared=(), shared_modifiers=True, shared_subjects="same", relatives="kept")
    for conventions in (Conventions(), generous):
        start = time.process_time()
        enhance(words, conventions)
        assert time.process_time() - start < 3


DEPS = ["nsubj", "obj", "conj", "cc", "xcomp", "acl:relcl", "nmod", "case", "mark", "det", "fixed", "cop"]
TREES = st.lists(
    st.tuples(
        st.sampled_from(["and", "/", "Σ", "ǅ", "हैं", "a_b", "w"]),
        st.sampled_from(["NOUN", "VERB", "ADJ", "PRON", "ADV"]),
        st.sampled_from(["_", "PronType=Rel", "Case=Nom"]),
        st.integers(0, 9),
        st.sampled_from([*DEPS, "", "_", "a b|c"]),
    ),
    min_size=1,
    max_size=10,
)


@given(TREES, st.sampled_from(["en", *LANGUAGES, *(conventions for conventions, _, _ in OTHERS.values())]))
@example(
    [("w", "NOUN", "_", 0, "")] * 5
    + [("w", "VERB", "_", 1, "acl:relcl"), ("w", "NOUN", "PronType=Rel", 6, "")],
    "en",
)
def test_each_word_of_any_graph_hangs_on_root(
    tree: list[tuple[str, str, str, int, str]], conventions: Conventions | str
) -> None:
    words = [
        Word(form, form, upos, feats, min(head, len(tree)) or None, dep)
        for form, upos, feats, head, dep in tree
    ]
    arcs = enhance(words, conventions)
    reached = {0}
    for _ in words:
        reached |= {i for i, pairs in enumerate(arcs, start=1) if any(head in reached for head, _ in pairs)}
    assert reached == set(range(len(words) + 1))
    for i, pairs in enumerate(arcs, start=1):
        assert len(set(pairs)) == len(pairs)
        assert all(head != i and (head == 0) == (dep == "root") for head, dep in pairs)
        assert all(dep.split() == [dep] and dep.strip("_") and "|" not in dep for _, dep in pairs)


@pytest.mark.parametrize(
    ("lang", "name", "elas"),
    [
        ("en", "UD_English-EWT/en_ewt-ud-dev.conllu", 0.995),
        ("it", "dev-only/it_isdt-ud-dev.conllu", 0.995),
        ("nl", "dev-only/nl_alpino-ud-dev.conllu", 0.99),
        ("sv", "dev-only/sv_talbanken-ud-dev.conllu", 0.99),
    ],
)
def test_rules_make_the_graphs_of_treebanks(
    lang: str, name: str, elas: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The graphs of UD 2.3 leave out the head of a relative clause without a pronoun.
    monkeypatch.setattr(Enhancer, "refer_without_pronoun", lambda *_: None)
    gold = list(read_conllu(shared_treebank(name)))
    system = [sentence.replace(deps=cells_of(sentence.words, lang)) for sentence in gold]
    assert evaluate_sentences(gold, system=system)["ELAS"].f1 > elas
