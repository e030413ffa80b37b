"""Frozen parsers parse each Doc once; what they wrote comes back the same."""

import gc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.doc_graphs import set_initial_graph
from spacy_g2g.parser.g2g_parser import G2GParser
from spacy_g2g.training.cache import CachedParser, make_cache_annotations

from ..roundtrips import PIPELINE_WAYS, Keep
from ..util import gold_doc, mostly_slow, plain_doc, read_treebank, tree_of, treebank_docs, treebank_examples
from .test_spacy_train import train_tagger

NAMES = ["g2g_parser", "parser"]
STEP = {"step": 0, "epoch": 0}


def make_pipeline(name: str, trained_folder: Path) -> Language:
    """A frozen parser, ours or spaCy's, and a tagger that is trained after it."""
    if name == "parser":
        nlp = spacy.blank("xx")
        nlp.add_pipe("parser", config={"min_action_freq": 1})
        nlp.add_pipe("tagger")
        nlp.initialize(lambda: treebank_examples(nlp))
        # Without boundaries, which spaCy's parser may find at odds with the gold trees.
        gold = [example.reference for example in treebank_examples(nlp)]
        examples = [Example(unparsed_copy(doc, []), doc) for doc in gold]
        for _ in range(10):
            nlp.update(examples, sgd=Adam(0.01), exclude=["tagger"])
    else:
        nlp = spacy.load(trained_folder)
        nlp.add_pipe("tagger").initialize(lambda: treebank_examples(nlp), nlp=nlp)
    nlp.config["training"]["frozen_components"] = [name]
    nlp.config["training"]["annotating_components"] = [name]
    return nlp


@pytest.fixture(scope="module", params=mostly_slow(NAMES, ["g2g_parser"]))
def saved(
    request: pytest.FixtureRequest, trained_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Name of a parser, and the folder of its pipeline."""
    folder = tmp_path_factory.mktemp(request.param)
    make_pipeline(request.param, trained_folder).to_disk(folder)
    return request.param, folder


class Spy:
    """Stands for a component in the pipeline and notes the batches that it is given to parse."""

    def __init__(self, component: Any) -> None:
        self.component = component
        self.batches: list[int] = []

    def pipe(self, docs: Iterable[Doc], **kwargs: Any) -> Iterable[Doc]:
        docs = list(docs)
        self.batches.append(len(docs))
        return self.component.pipe(docs, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.component, name)


class Setup:
    """A pipeline in training: what its parser is asked to parse, and what its tagger is given."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.nlp = spacy.load(folder)
        self.spy = Spy(self.nlp.get_pipe(name))
        self.nlp._components[0] = (name, self.spy)
        self.seen: list[Any] = []
        update = self.nlp.get_pipe("tagger").update

        def spy_update(examples: list[Example], **kwargs: Any) -> Any:
            self.seen += [state_of(example.predicted) for example in examples]
            return update(examples, **kwargs)

        self.nlp.get_pipe("tagger").update = spy_update

    @property
    def parser(self) -> Any:
        """What stands for the parser in the pipeline."""
        return self.nlp.get_pipe(self.name)

    @property
    def n_predicted(self) -> int:
        return sum(self.spy.batches)

    def cache(self) -> None:
        make_cache_annotations([self.name])(self.nlp, STEP)

    def update(self, examples: list[Example] | None = None) -> list[Any]:
        """One update; gives the parses that the tagger has seen."""
        self.seen = []
        examples = treebank_examples(self.nlp) if examples is None else examples
        self.nlp.update(examples, sgd=Adam(0.001), exclude=[self.name], annotates=[self.name])
        return self.seen

    def examples_of(self, docs: Iterable[Doc]) -> list[Example]:
        """Examples for the tagger; the reference has a tag for each word."""
        return [
            Example(doc, Doc(self.nlp.vocab, words=[t.text for t in doc], tags=["NOUN"] * len(doc)))
            for doc in docs
        ]


def state_of(doc: Doc) -> Any:
    """All that a parse leaves in a Doc."""
    edges = [(t.left_edge.i, t.right_edge.i, t.n_lefts, t.n_rights) for t in doc]
    return doc.to_array(["ORTH", "HEAD", "DEP", "SENT_START"]).tolist(), edges, [s.start for s in doc.sents]


@pytest.fixture
def setup(saved: tuple[str, Path]) -> Setup:
    return Setup(*saved)


def test_cached_parses_equal_those_of_the_parser_which_is_called_once(setup: Setup):
    plain = setup.update()
    assert setup.n_predicted == 10
    setup.cache()
    assert setup.update() == plain
    assert setup.n_predicted == 20
    setup.cache()
    assert [setup.update(), setup.update()] == [plain, plain]
    assert setup.n_predicted == 20
    assert len({tuple(map(tuple, table)) for table, _, _ in plain}) == 10


def test_docs_of_several_sentences_and_preset_boundaries_are_told_apart(setup: Setup):
    def docs() -> list[Doc]:
        vocab = setup.nlp.vocab
        return [
            plain_doc(vocab, "she saw the cat .", "dogs bark", "Go !"),
            plain_doc(vocab, "she saw the cat .", "dogs bark Go !"),
            plain_doc(vocab, "she saw the cat . dogs bark Go !"),
        ]

    plain = setup.update(setup.examples_of(docs()))
    setup.spy.batches = []
    setup.cache()
    for order in ([0, 1, 2], [2, 0, 1], [1, 1, 0]):
        chosen = docs()
        found = setup.update(setup.examples_of([chosen[i].copy() for i in order]))
        assert found == [plain[i] for i in order]
    assert setup.n_predicted == 3
    assert [starts for _, _, starts in plain[:2]] == [[0, 5, 7], [0, 5]]


def test_other_tags_are_other_content(setup: Setup):
    setup.cache()
    for tags in (["X", "Y"], ["X", "Z"], ["X", "Y"]):
        doc = Doc(setup.nlp.vocab, words=["a", "b"], tags=tags, sent_starts=[True, False])
        setup.update(setup.examples_of([doc]))
    assert setup.n_predicted == 2


def test_docs_that_come_with_graphs_keep_them(setup: Setup):
    setup.cache()
    no_tree = plain_doc(setup.nlp.vocab, "a b")
    set_initial_graph(no_tree, [-1, 0], ["", "x"])
    tree = gold_doc(setup.nlp.vocab, read_treebank()[:1])
    expected = [state_of(no_tree), state_of(tree)]
    plain = plain_doc(setup.nlp.vocab, "a b")
    assert setup.update(setup.examples_of([no_tree, tree, plain]))[:2] == expected
    assert setup.n_predicted == 1


def test_empty_docs_go_through(setup: Setup):
    setup.cache()
    for _ in range(2):
        docs = [Doc(setup.nlp.vocab), *treebank_docs(setup.nlp.vocab)[:1], Doc(setup.nlp.vocab)]
        assert list(setup.parser.pipe(iter(docs), batch_size=8)) == docs


def test_what_is_new_in_a_batch_is_parsed_together_and_order_is_kept(setup: Setup):
    setup.cache()
    docs = treebank_docs(setup.nlp.vocab)
    some = [docs[i] for i in (7, 2, 5)]
    assert list(setup.parser.pipe(some, batch_size=10)) == some
    twice = [*treebank_docs(setup.nlp.vocab), treebank_docs(setup.nlp.vocab)[0]]
    assert list(setup.parser.pipe(iter(twice), batch_size=20)) == twice
    assert setup.spy.batches == [3, 7]
    assert state_of(twice[0]) == state_of(twice[-1])
    assert len(list(setup.parser.pipe(treebank_docs(setup.nlp.vocab), batch_size=4))) == 10
    assert setup.spy.batches == [3, 7]


def test_docs_that_fail_are_left_to_the_error_handler(trained: Language, monkeypatch: pytest.MonkeyPatch):
    predict = G2GParser.predict

    def fail(self: G2GParser, docs: list[Doc]) -> Any:
        if any(doc.text.startswith("dogs") for doc in docs):
            raise RuntimeError("dogs")
        return predict(self, docs)

    monkeypatch.setattr(G2GParser, "predict", fail)
    parser = CachedParser(trained.get_pipe("g2g_parser"))
    docs = treebank_docs(trained.vocab)[:3]
    with pytest.raises(RuntimeError, match="dogs"):
        list(parser.pipe(docs, batch_size=1))
    failed: list[str] = []
    parser.set_error_handler(lambda name, proc, docs, error: failed.extend(doc[0].text for doc in docs))
    assert list(parser.pipe(docs, batch_size=1)) == [docs[0], docs[2]]
    assert failed == ["dogs"]


def test_docs_are_not_kept(setup: Setup):
    def n_docs() -> int:
        gc.collect()
        return sum(type(item) is Doc for item in gc.get_objects())

    setup.cache()
    before = n_docs()
    setup.update()
    setup.update()
    assert n_docs() == before


@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_a_saved_or_copied_pipeline_has_no_cache(saved: tuple[str, Path], tmp_path: Path, keep: Keep):
    name, folder = saved
    nlp = spacy.load(folder)
    component = nlp.get_pipe(name)
    before = nlp.to_bytes()
    make_cache_annotations([name])(nlp, STEP)
    parser: Any = nlp.get_pipe(name)
    expected = [tree_of(doc) for doc in parser.pipe(treebank_docs(nlp.vocab))]
    assert nlp.to_bytes() == before
    other: Any = keep(nlp, tmp_path).get_pipe(name)
    assert type(other) is type(component)
    assert isinstance(nlp.get_pipe(name), CachedParser)
    assert [tree_of(doc) for doc in other.pipe(treebank_docs(other.vocab))] == expected


def test_all_but_pipe_is_the_component_itself(trained: Language):
    component: Any = trained.get_pipe("g2g_parser")
    parser = CachedParser(component)
    assert parser.labels == component.labels
    parser.store_probabilities = "set"
    assert component.store_probabilities == "set"
    component.store_probabilities = False
    doc = treebank_docs(trained.vocab)[0]
    assert tree_of(parser(doc)) == tree_of(trained(treebank_docs(trained.vocab)[0]))


def test_components_that_are_not_frozen_and_annotating_are_errors(setup: Setup):
    training = setup.nlp.config["training"]
    for setting in ("frozen_components", "annotating_components"):
        training[setting] = []
        with pytest.raises(ValueError, match=f"E702.*'{setup.name}'.*{setting}, which is \\[\\]"):
            setup.cache()
        training[setting] = [setup.name]
    setup.cache()


@pytest.mark.parametrize("name", ["nobody", "g2g_test_no_pipe"])
def test_components_that_are_not_there_or_have_no_pipe_are_errors(name: str):
    @Language.component("g2g_test_no_pipe")
    def no_pipe(doc: Doc) -> Doc:
        return doc

    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_test_no_pipe")
    nlp.config["training"] |= {key: [name] for key in ("frozen_components", "annotating_components")}
    with pytest.raises(ValueError, match=rf"E702.*'{name}'"):
        make_cache_annotations([name])(nlp, STEP)


def test_parsers_on_vectors_that_are_trained_are_errors():
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    config = {"model": {**nlp.get_factory_meta("parser").default_config["model"], "tok2vec": listener}}
    nlp.add_pipe("parser", config=config)
    nlp.add_pipe("tagger")
    nlp.initialize(lambda: treebank_examples(nlp))
    training = nlp.config["training"]
    training |= {"frozen_components": ["parser"], "annotating_components": ["parser"]}
    with pytest.raises(ValueError, match=r"E704.*'parser'.*'tok2vec'"):
        make_cache_annotations(["parser"])(nlp, STEP)
    training |= {"frozen_components": ["tok2vec", "parser"], "annotating_components": ["tok2vec", "parser"]}
    make_cache_annotations(["parser"])(nlp, STEP)
    assert isinstance(nlp.get_pipe("parser"), CachedParser)


@pytest.mark.slow
def test_spacy_train_parses_each_doc_once(
    tmp_path: Path, trained_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    parsed: list[str] = []
    predict = G2GParser.predict

    def spy(self: G2GParser, docs: Iterable[Doc]) -> Any:
        docs = list(docs)
        parsed.extend(doc.text for doc in docs)
        return predict(self, docs)

    monkeypatch.setattr(G2GParser, "predict", spy)
    base = Path(__file__).parents[2] / "configs/test/syntr_tiny.cfg"
    cache = {"@callbacks": "spacy_g2g.cache_annotations.v1", "components": ["g2g_parser"]}
    nlp = train_tagger(base, trained_folder, tmp_path, before_update=cache, max_steps=6, eval_frequency=3)
    assert len(parsed) == len(set(parsed)) == 10
    assert isinstance(nlp.get_pipe("g2g_parser"), G2GParser)
