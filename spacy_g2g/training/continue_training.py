"""Continue the training of a pipeline, with its components and weights and with new labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from typing import Any

import spacy
from spacy.language import Language
from spacy.pipeline import EditTreeLemmatizer, Tagger
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import logger, registry
from thinc.api import Model
from thinc.layers.resizable import resize_linear_weighted

from ..data.docs import TREEBANK_KEY
from ..errors import Errors, Warnings
from ..lemmas.lemma_table import LemmaTable
from ..models.network_shim import find_shims
from ..models.start import warn_of_unknown_words
from ..models.types import Sentence
from ..pipeline.labels import count_labels
from ..pipeline.saved_pipe import SavedPipe
from .callbacks import read_training_examples
from .untaught import learn_labels

NAME = "spacy_g2g.continue_pipeline.v1"
#: Names in ``[corpora.train.path]`` of the user's own data, and of old data to replay beside them.
OWN, REPLAY = "own", "replay"
#: Steps of the optimizer for n sentences: this factor times the square root of n.
STEPS_BY_ROOT = 3.5
#: Maximum number of steps in which to look for the largest rate of a schedule.
MAX_RATES = 100_000
#: Share of words with new labels. Above it, the data probably follow other guidelines.
MANY_NEW = 0.2


def make_continue_pipeline(path: str | None, rate_share: float = 0.3) -> Callable[[Language], Language]:
    """Make the callback ``spacy_g2g.continue_pipeline.v1`` for ``[initialize.after_init]``.

    The callback fills an empty pipeline with the components of a trained one and adds the new labels of the
    training corpus to them. It chooses the steps and the learning rate if the config leaves them at 0.

    path: Folder or name of the trained pipeline.
    rate_share: Learning rate as a share of the largest rate in the training of the pipeline, above 0.
    """
    _check_rate("rate_share", rate_share)

    def after_init(nlp: Language) -> Language:
        if not path:
            raise ValueError(Errors.E705)
        base = spacy.load(path)
        _take_components(nlp, base, path)
        examples = read_training_examples(nlp)
        docs = [example.reference for example in examples]
        if all(doc.user_data.get(TREEBANK_KEY) == REPLAY or not len(doc) for doc in docs):
            raise ValueError(Errors.E707)
        _set_training(nlp.config["training"], base.config.interpolate(), examples, rate_share)
        add_labels(nlp, examples)
        words = [token.text for token in chain.from_iterable(docs) if not token.is_space]
        for pipe in (pipe for _, pipe in nlp.pipeline if isinstance(pipe, SavedPipe)):
            for shim in find_shims(pipe.model):
                if shim.known_spec.encoder is not None:
                    warn_of_unknown_words(shim, [Sentence(words)])
        return nlp

    return after_init


def _take_components(nlp: Language, base: Language, path: str) -> None:
    """Move the language, vocabulary, tokenizer and components of a pipeline into an empty one."""
    nlp.__class__ = type(base)
    nlp.vocab, nlp.tokenizer = base.vocab, base.tokenizer
    nlp.meta["lang"] = base.lang
    nlp.config["nlp"].update(base.config.interpolate()["nlp"])
    for name in base.component_names:
        nlp.add_pipe(name, source=base)
    for name in base.disabled:
        nlp.disable_pipe(name)
    if not _parsers(nlp):
        raise ValueError(Errors.E706.format(path=path, names=base.component_names))


def _parsers(nlp: Language) -> dict[str, Any]:
    """Return the components that write trees and can learn labels, by name."""
    return {
        name: pipe
        for name, pipe in nlp.pipeline
        if "token.dep" in nlp.get_pipe_meta(name).assigns and hasattr(pipe, "add_label")
    }


def add_labels(nlp: Language, examples: Sequence[Example]) -> None:
    """Add the labels of Examples that are new to components: of arcs, tags, features and edit trees."""
    docs = [example.reference for example in examples]
    roots, others = count_labels(docs)
    for name, parser in _parsers(nlp).items():
        new = sorted({*others, *roots} - {*parser.labels})
        share = sum(token.dep_ in new for token in chain.from_iterable(docs)) / max(1, sum(map(len, docs)))
        if share > MANY_NEW:
            warnings.warn(Warnings.W701.format(name=name, share=share, new=new), stacklevel=2)
        for label in new:
            parser.add_label(label)
    untaught = []
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, LemmaTable):
            pipe.learn(examples)
        if isinstance(pipe, Tagger | EditTreeLemmatizer):
            written = [attr.removeprefix("token.").upper() for attr in nlp.get_pipe_meta(name).assigns]
            if not any(doc.has_annotation(attr) for doc, attr in product(docs, written)):
                untaught.append(name)
            if isinstance(pipe, EditTreeLemmatizer):
                # spaCy does not load this table. Without it, the lemmatizer would add each label again.
                pipe.tree2label = {tree: i for i, tree in enumerate(pipe.labels)}
            learn_labels(pipe, examples)
            if "neg_prefix" in pipe.cfg:  # By default spaCy has "!", which may begin a tag.
                pipe.cfg["neg_prefix"] = ""
            resize_softmax(pipe.model, len(pipe.labels))
    if untaught:
        logger.warning(Warnings.W751.format(names=untaught))


def resize_softmax(model: Model[Any, Any], n: int) -> None:
    """Resize the output layer of a tagger to n classes. New ones get mean weights, so none wins at first."""
    layer: Model[Any, Any] = model.get_ref("output_layer")
    weights: dict[str, Any] = {name: layer.get_param(name) for name in layer.param_names}
    mean = {name: weight.mean(axis=0) for name, weight in weights.items()}
    resized = resize_linear_weighted(layer, n, fill_defaults=mean)
    outer = [node for node in model.walk() if node is not layer and layer in node.walk()]
    model.replace_node(layer, resized)
    for node in outer:
        if node.has_dim("nO"):
            node.set_dim("nO", n, force=True)


def _set_training(
    training: dict[str, Any], base: Mapping[str, Any], examples: Sequence[Example], rate_share: float
) -> None:
    """Choose the annotating components, steps and learning rate if the config leaves them open."""
    before, rate = base["training"], training["optimizer"].get("learn_rate")
    training["annotating_components"] = training["annotating_components"] or before["annotating_components"]
    if not training["max_steps"]:
        training["max_steps"] = choose_steps(examples)
    training["eval_frequency"] = training["eval_frequency"] or training["max_steps"]
    if isinstance(rate, dict):
        chosen = {"total_steps": training["max_steps"], "warmup_steps": training["max_steps"] // 10}
        if rate.get("initial_rate") == 0:
            was_continued = (base["initialize"]["after_init"] or {}).get("@callbacks") == NAME
            largest = largest_rate(before, "the pipeline to continue from")
            rate["initial_rate"] = largest if was_continued else rate_share * largest
        rate |= {key: value for key, value in chosen.items() if rate.get(key) == 0}
    largest_rate(training, "this training")
    logger.info("Continue with %d steps", training["max_steps"])


def largest_rate(training: Mapping[str, Any], whose: str) -> float:
    """Return the largest learning rate of a training with any optimizer and schedule.

    training: Section ``[training]`` of a config.
    whose: Owner of the training, for the error.
    Raises ValueError if the rate is unknown or not above 0.
    """
    largest = -math.inf
    name = f"The largest learning rate of {whose}"
    try:
        optimizer = registry.resolve({"optimizer": training["optimizer"]})["optimizer"]
        for step in range(MAX_RATES):
            if step >= (training["max_steps"] or MAX_RATES) and largest != 0.0:
                break  # If the training ended before the rate rose from 0, go on to the first rate above 0.
            largest = max(float(optimizer.learn_rate), largest)
            optimizer.step_schedules()
    except Exception as error:  # A user's schedule or optimizer may raise any error.
        raise ValueError(Errors.E755.format(name=name, value=f"unknown ({error})")) from error
    return _check_rate(name, largest)


def _check_rate(name: str, value: float) -> float:
    if not 0.0 < value < math.inf:
        raise ValueError(Errors.E755.format(name=name, value=value))
    return value


def choose_steps(examples: Sequence[Example]) -> int:
    """Return the number of steps for the Examples of an epoch, some of which may be replayed.

    Only sentences with a head count. Raises ValueError if the user's own data have none.
    """
    docs = [example.reference for example in examples]
    own = [doc for doc in docs if doc.user_data.get(TREEBANK_KEY, OWN) == OWN]
    # Docs that are repeated in an epoch count once.
    different = {id(doc): doc for doc in own}.values()
    n = sum(map(_has_head, chain.from_iterable(doc.sents for doc in different)))
    if not n:
        raise ValueError(Errors.E707)
    share = sum(map(len, own)) / sum(map(len, docs))
    return math.ceil(STEPS_BY_ROOT * math.sqrt(n) / share)


def _has_head(sentence: Span) -> bool:
    return any(token.dep for token in sentence)
