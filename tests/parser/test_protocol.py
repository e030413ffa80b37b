"""The calls that components make to models are those of docs/code.md: any Thinc model that has them works."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam, Linear, Model, fix_random_seed, registry

from spacy_g2g.models.types import Arcs, Parse, Sentence, Start
from spacy_g2g.parser.prior import PriorSource
from spacy_g2g.scored.doc_constraints import constrain
from spacy_g2g.trees.mst import decode

from ..amr.util import amr_examples, amr_nlp
from ..util import gold_doc, make_nlp, overfit, read_treebank, treebank_examples, trees_of

PAGE = Path(__file__).parents[2] / "docs" / "code.md"
N_FEATURES = 2000


# A parser by another library than PyTorch: linear, with hashed features.


def features(rows: list[str]) -> np.ndarray:
    """One feature for each row."""
    found = np.zeros((len(rows), N_FEATURES), dtype=np.float32)
    found[range(len(rows)), [crc32(row.encode()) % N_FEATURES for row in rows]] = 1.0
    return found


def score(model: Model, words: Sequence[str], is_train: bool) -> Iterator[tuple[np.ndarray, Callable]]:
    """Probabilities of heads [words, words + 1] and of labels [words, labels], with their callbacks."""
    heads = ["ROOT", *words]
    pairs = [f"{word} {head} {i - j}" for i, word in enumerate(words) for j, head in enumerate(heads)]
    for layer, rows, n in ((model.layers[0], pairs, len(heads)), (model.layers[1], [*words], None)):
        flat, backprop = layer(features(rows), is_train)
        scores = flat.reshape(len(words), n or -1).copy()
        if n is not None:
            scores[range(len(words)), range(1, n)] = -30.0  # no word is its own head
        exps = np.exp(scores - scores.max(1, keepdims=True))
        yield exps / exps.sum(1, keepdims=True), lambda d, b=backprop, f=flat: b(d.reshape(f.shape))


def forward(model: Model, inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    if not is_train:
        return [parse(model, sentence) for sentence in inputs], lambda _: None
    loss, steps = 0.0, []
    for sentence, tree in zip(*inputs, strict=True):
        for (probs, backprop), gold in zip(
            score(model, sentence.words, True), (tree.heads, tree.labels), strict=True
        ):
            (known,) = np.nonzero(gold >= 0)
            loss -= float(np.log(probs[known, gold[known]]).sum())
            gradient = np.zeros_like(probs)
            gradient[known] = probs[known]
            gradient[known, gold[known]] -= 1.0
            steps.append((backprop, gradient))
    return loss, lambda _: [backprop(gradient) for backprop, gradient in steps]


def parse(model: Model, sentence: Sentence) -> Parse:
    n = len(sentence.words)
    (heads, _), (labels, _) = score(model, sentence.words, False)
    tree = Arcs(decode(np.log(heads)[None], lengths=np.array([n]))[0], labels.argmax(1))
    return Parse(tree, heads[range(n), tree.heads], labels.max(1))


def initialize(model: Model, X: list[Sentence], Y: Start) -> None:  # noqa: N803 (Thinc's names)
    model.layers[0].initialize()
    model.layers[1].set_dim("nO", len(Y.labels))
    model.layers[1].initialize()


def resize(model: Model, n_labels: int) -> Model:
    old, new = model.layers[1], Linear(n_labels, N_FEATURES).initialize()
    for name, start in (("W", 0.0), ("b", -5.0)):
        new.get_param(name)[:] = start
        new.get_param(name)[: old.get_dim("nO")] = old.get_param(name)
    model.layers[1] = new
    return model


@registry.layers("test.LinearParser.v1")
def make_linear_parser() -> Model:
    layers = [Linear(1, N_FEATURES), Linear(None, N_FEATURES)]
    return Model("linear", forward, init=initialize, layers=layers, attrs={"resize_output": resize})


def linear_nlp() -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser", config={"model": {"@layers": "test.LinearParser.v1"}})
    return nlp


def trained_nlp() -> Language:
    nlp = linear_nlp()
    nlp.initialize(lambda: treebank_examples(nlp))
    return nlp


def test_a_model_that_has_only_the_documented_calls_learns(tmp_path: Path):
    nlp = trained_nlp()
    optimizer, losses = Adam(0.1, L2=0.0, grad_clip=0.0), []
    for _ in range(30):
        losses.append(nlp.update(treebank_examples(nlp), sgd=optimizer)["g2g_parser"])
    assert losses[-1] < losses[0] / 10
    assert nlp.evaluate(treebank_examples(nlp))["ud_las"] > 0.95
    expected = trees_of(nlp)
    nlp.to_disk(tmp_path)
    assert trees_of(spacy.load(tmp_path)) == expected
    assert trees_of(linear_nlp().from_bytes(nlp.to_bytes())) == expected


def test_its_labels_can_be_added():
    nlp = trained_nlp()
    overfit(nlp, treebank_examples(nlp), steps=5)
    before = trees_of(nlp)
    parser: Any = nlp.get_pipe("g2g_parser")
    assert parser.add_label("new") == 1
    assert trees_of(nlp) == before
    examples = treebank_examples(nlp)
    for example in examples:
        for token in example.reference:
            if token.dep_ != "root":
                token.dep_ = "new"
    optimizer = Adam(0.1, L2=0.0, grad_clip=0.0)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert {label for tree in trees_of(nlp) for _, label in tree} == {"new", "root"}


def test_labels_can_not_be_added_to_a_model_without_the_attribute():
    parser: Any = trained_nlp().get_pipe("g2g_parser")
    del parser.model.attrs["resize_output"]
    with pytest.raises(ValueError, match=r"'new'.*'linear'.*resize_output"):
        parser.add_label("new")
    assert "new" not in parser.labels


def test_such_a_model_can_be_saved_with_half_precision_set(tmp_path: Path):
    nlp = trained_nlp()
    parser: Any = nlp.get_pipe("g2g_parser")
    parser.half_precision_weights = True
    nlp.to_disk(tmp_path)
    assert trees_of(spacy.load(tmp_path)) == trees_of(nlp)


# The list of calls


class Spy:
    """Stands for a model, and notes what it is asked for."""

    def __init__(self, model: Any, seen: set[str]) -> None:
        vars(self).update(model=model, seen=seen)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            self.seen.add(f"model.{name}")
        return SpyAttrs(self) if name == "attrs" else getattr(self.model, name)


class SpyAttrs:
    """Stands for a model's attributes."""

    def __init__(self, spy: Spy) -> None:
        self.spy = spy

    def note(self, name: str) -> str:
        self.spy.seen.add(name)
        return name

    def get(self, name: str, default: Any = None) -> Any:
        return self.spy.model.attrs.get(self.note(name), default)

    def __contains__(self, name: str) -> bool:
        return self.note(name) in self.spy.model.attrs

    def __getitem__(self, name: str) -> Any:
        return self.spy.model.attrs[self.note(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        self.spy.model.attrs[self.note(name)] = value


def use(nlp: Language, name: str, examples: list[Example], folder: Path, seen: set[str]) -> None:
    """Do with a component all that can be done, with a spy in its model's place."""
    pipe: Any = nlp.get_pipe(name)
    # The functions behind the attributes are the model's own, and may use all of it.
    attrs = {
        key: (lambda spy, *a, f=f: f(spy.model, *a)) for key, f in pipe.model.attrs.items() if callable(f)
    }
    pipe.model.attrs.update(attrs)
    pipe.model = Spy(pipe.model, seen)
    pipe.initialize(lambda: examples, nlp=nlp)
    pipe.update(examples, sgd=Adam(0.001), drop=0.1)
    list(pipe.pipe([example.predicted.copy() for example in examples]))
    PriorSource().find_listeners(pipe)
    pipe.to_disk(folder / name)
    pipe.from_disk(folder / name)
    pipe.from_bytes(pipe.to_bytes())
    model = pipe.model.model
    kind, model.attrs["output_kind"] = model.attrs["output_kind"], "something else"
    with pytest.raises(ValueError, match=rf"{model.name}.*something else"):
        pipe.initialize(lambda: examples, nlp=nlp)
    model.attrs["output_kind"] = kind
    if model.attrs["scores_arcs"]:
        doc = examples[0].reference.copy()
        constrain(doc, heads={0: 0})
        assert [tree.heads[0] for tree in pipe.kbest(doc, 2)[0]] == [0, 0]
    if name != "amr_parser":
        pipe.add_label("new")


def test_the_page_lists_the_calls_that_components_make_and_no_others(tmp_path: Path):
    seen: set[str] = set()
    for factory, row in (("g2g_parser", "SentTr"), ("rng_refiner", None)):
        nlp = make_nlp(factory=factory, **({"row": row} if row else {}))
        # From a Doc of several sentences, the parser learns boundaries.
        text = gold_doc(nlp.vocab, read_treebank()[:2])
        use(nlp, factory, [*treebank_examples(nlp), Example(text.copy(), text)], tmp_path, seen)
    nlp = amr_nlp()
    use(nlp, "amr_parser", amr_examples(nlp), tmp_path, seen)
    section = PAGE.read_text(encoding="utf8").split("## The model protocol")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)`", section, re.M)
    listed = {row.split("(")[0] for row in rows if not row.startswith("models/")}
    assert listed - seen == set()
    assert seen - listed == {"model.attrs"}
