"""The ``role_labeler`` component: who did what to whom, by semantic roles.

Like all modules of factories, this one imports no torch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..arrays import BoolArray
from ..data.gold import segment_examples
from ..data.roles import ROLES, Argument, Predicate, aligned_roles, get_roles, set_roles
from ..data.segmentation import Segmentation, segment, word_attributes
from ..errors import Errors
from ..models.settings import setting
from ..models.types import Sentence
from ..parser.parser_pipe import ParserPipe
from ..pipeline.component import ComponentSettings, factory
from ..pipeline.labels import check_labels, count_labels, find_initial_labels
from ..pipeline.long_sentences import cut_long
from ..pipeline.sentence_inputs import ParsedBatch, make_sentences, read_tags
from ..pipeline.trees import initial_graphs, make_trees
from .role_scorer import METRICS
from .role_types import PREDICATE_LABEL, RoleInput, Roles, RoleStart
from .spans import find_span

#: Keys of ``cfg``: the roles, the labels of trees, the rolesets, and the ids of the rolesets that training
#: data have for a lemma or form, by lower-case text.
KEYS = ("roles", "tree_labels", "rolesets", "candidates")
#: Sense of a lemma that training data do not have.
FIRST_SENSE = ".01"


@dataclass(frozen=True, kw_only=True)
class RoleLabelerSettings(ComponentSettings):
    """Settings of ``role_labeler``."""

    model: Model[Any, Any] = setting(
        {"@architectures": "spacy_g2g.RoleNetwork.v1"},
        "Architecture that finds predicates and their arguments, such as ``spacy_g2g.RoleNetwork.v1``.",
    )
    given_predicates: bool = setting(
        False,
        "Take the predicates that a Doc has in ``doc._.g2g_roles`` already, and find only their rolesets and "
        "arguments. Docs without roles get all from the network.",
    )
    scorer: Callable[..., dict[str, Any]] | None = setting(
        {"@scorers": "spacy_g2g.role_scorer.v1"}, "Scoring method."
    )


class RoleLabeler(ParserPipe):
    """Component that writes predicates, their rolesets and their arguments to ``doc._.g2g_roles``.

    It reads the tree of each Doc, if the model takes one. The span of an argument is that of its head's
    subtree. Without a tree, it is the head alone.
    """

    output_kind = "roles"

    given_predicates: bool

    def __init__(self, vocab: Vocab, name: str, settings: RoleLabelerSettings) -> None:
        super().__init__(vocab, settings.model, name)
        settings.apply_to(self)
        self.cfg |= {"roles": [], "tree_labels": [], "rolesets": [], "candidates": {}}

    # Labeling

    def inputs(
        self, docs: Sequence[Doc], segmentation: Segmentation, vectors: Sequence[Floats2d] | None = None
    ) -> list[Sentence]:
        """Return the sentences that have words, with their trees and what words may be.

        docs, segmentation, vectors: See ``ParserPipe.inputs``.
        """
        ids = {self.vocab.strings.add(label): i for i, label in enumerate(self.cfg["tree_labels"])}
        heads, labels = initial_graphs(docs, segmentation, ids)
        graphs = make_trees(segmentation, heads=heads, labels=labels)
        tags = read_tags(docs, segmentation, self.model.attrs.get("tag_attr"))
        sentences = make_sentences(docs, segmentation, tags, vectors=vectors, graphs=graphs)
        lemmas = word_attributes(docs, segmentation, "LEMMA")
        known = [self._given(doc) if self.given_predicates else None for doc in docs]
        inputs: list[Sentence] = []
        places = zip(sentences, segmentation.sentence_slices, segmentation.word_places(), strict=True)
        for sentence, at, (doc, words) in places:
            candidates = [self._candidates(*pair) for pair in zip(sentence.words, lemmas[at], strict=True)]
            given, own = known[doc], None
            if given is not None:
                own = tuple(number for number, word in enumerate(words) if word in given)
            inputs.append(RoleInput(**vars(sentence), candidates=candidates, predicates=own))
        return inputs

    def _given(self, doc: Doc) -> set[int] | None:
        roles = get_roles(doc)
        return None if roles is None else {predicate.word for predicate in roles}

    def _candidates(self, form: str, lemma: str) -> tuple[int, ...]:
        """Return the ids of the rolesets of a form and of a lemma, which may be ""."""
        table = self.cfg["candidates"]
        return tuple(sorted({*table.get(form.lower(), ()), *table.get(lemma.lower(), ())}))

    def parse(self, sentences: Sequence[Sentence]) -> list[Roles]:
        """Return the roles of each sentence. Very long sentences are labeled in parts."""
        parts = [_cut(sentence) for sentence in sentences]
        parses = iter(super().parse([*chain.from_iterable(parts)]))
        return [_join([*islice(parses, len(own))]) for own in parts]

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write ``doc._.g2g_roles``."""
        docs = list(docs)
        found: list[list[Predicate]] = [[] for _ in docs]
        for (place, words), parse in zip(scores.segmentation.word_places(), scores.parses, strict=True):
            found[place] += self._predicates(docs[place], words, parse)
        for doc, predicates in zip(docs, found, strict=True):
            set_roles(doc, predicates)
        self._warn_unfit(docs, scores)

    def _predicates(self, doc: Doc, words: Sequence[int], parse: Roles) -> list[Predicate]:
        """Return the predicates of a sentence, whose words have these indices in the Doc."""
        arguments: list[list[Argument]] = [[] for _ in parse.predicates]
        triples = zip(parse.arguments.tolist(), parse.argument_probs.tolist(), strict=True)
        for (place, word, role), prob in triples:
            head, predicate = doc[words[word]], doc[words[parse.predicates[place]]]
            span = find_span(head, predicate=predicate)
            arguments[place].append(Argument(self.cfg["roles"][role - 1], head.i, *span, prob))
        predicates = []
        rows = zip(parse.predicates.tolist(), parse.rolesets, parse.predicate_probs, arguments, strict=True)
        for word, roleset, prob, own in rows:
            token = doc[words[word]]
            unseen = "_".join((token.lemma_ or token.lower_).replace("|", " ").split()) + FIRST_SENSE
            name = self.cfg["rolesets"][roleset] if roleset >= 0 else unseen
            predicates.append(Predicate(token.i, name, tuple(own), float(prob)))
        return predicates

    # Training

    def _read_gold(self, examples: Sequence[Example]) -> tuple[list[Doc], Segmentation, list[Roles | None]]:
        """Return the predicted Docs, their sentences, and the gold roles of each; None without annotation.

        Predicates and arguments that are misaligned or in another sentence are left out, as are roles that
        initialization did not see and arguments that are their own predicates.
        """
        segmentation = segment_examples(examples)
        gold = [aligned_roles(example) for example in examples]
        ids = {role: i for i, role in enumerate(self.cfg["roles"], start=1)}
        rolesets = {roleset: i for i, roleset in enumerate(self.cfg["rolesets"])}
        sentences: list[Roles | None] = []
        for place, words in segmentation.word_places():
            own = gold[place]
            if own is None:
                sentences.append(None)
                continue
            numbers = {word: number for number, word in enumerate(words)}
            inside = [predicate for predicate in own if predicate.word in numbers]
            sentences.append(_to_roles(inside, numbers, roles=ids, rolesets=rolesets))
        return [example.predicted for example in examples], segmentation, sentences

    def _has_gold(self, gold: Sequence[Roles | None]) -> BoolArray:
        """Return which sentences are annotated, bool [sentences]."""
        return np.array([roles is not None for roles in gold], dtype=np.bool_)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Set roles and rolesets, and build the model with the encoder that it starts from.

        get_examples: Training data; references have ``doc._.g2g_roles``.
        nlp: Pipeline of the component.
        labels: Roles and rolesets, as in ``label_data``; None collects them.
        encoder: As for ``g2g_parser``.
        Raises ValueError if no Doc has an argument.
        """
        self._check_model()
        validate_get_examples(get_examples, "RoleLabeler.initialize")
        references = [example.reference for example in get_examples()]
        if labels is None:
            trees = count_labels(references)
            names = {*trees[0], *trees[1]} | find_initial_labels(get_examples(), nlp, self)
            labels = {"tree_labels": sorted(names), **learn_rolesets(references)}
        if not labels["roles"] or not labels["rolesets"]:
            raise ValueError(Errors.E843.format(name=self.name))
        self.cfg |= {key: labels[key] for key in KEYS}
        segmentation = segment(references)
        tags = read_tags(references, segmentation, self.model.attrs.get("tag_attr"))
        sentences = make_sentences(references, segmentation, tags)
        self._build_model(get_examples, encoder, sentences, self._start())
        self.finder.initialize(get_examples())

    def _start(self) -> RoleStart:
        return RoleStart(
            labels=(PREDICATE_LABEL, *self.cfg["roles"]),
            n_initial_labels=len(self.cfg["tree_labels"]),
            n_rolesets=len(self.cfg["rolesets"]),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the roles."""
        return tuple(self.cfg["roles"])

    @property
    def label_data(self) -> dict[str, Any]:
        """Roles and rolesets in the form that ``initialize(labels=...)`` takes."""
        return {key: self.cfg[key] for key in KEYS}

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        super()._after_loading(origin, exclude)
        for key in KEYS[:3]:
            check_labels(self.cfg[key], origin=origin)
        found, expected = self._start().built_for, self._built_for(exclude)
        if expected and found != expected:
            sizes = {"found": found, "what": "as sizes", "expected": expected}
            raise ValueError(Errors.E806.format(origin=origin, **sizes))


def learn_rolesets(docs: Iterable[Doc]) -> dict[str, Any]:
    """Return the roles and rolesets of gold Docs, and the ids of the rolesets of each lemma and form."""
    roles, seen = set[str](), dict[str, set[str]]()
    for doc in docs:
        for predicate in get_roles(doc) or ():
            roles |= {argument.role for argument in predicate.arguments}
            token = doc[predicate.word]
            for text in {token.lower_, token.lemma_.lower()} - {""} if predicate.roleset else ():
                seen.setdefault(text, set()).add(predicate.roleset)
    rolesets = sorted({*chain.from_iterable(seen.values())})
    ids = {roleset: i for i, roleset in enumerate(rolesets)}
    candidates = {text: sorted(map(ids.__getitem__, seen[text])) for text in sorted(seen)}
    return {"roles": sorted(roles), "rolesets": rolesets, "candidates": candidates}


def _to_roles(
    predicates: Sequence[Predicate],
    numbers: dict[int, int],
    *,
    roles: dict[str, int],
    rolesets: dict[str, int],
) -> Roles:
    """Return the roles of a sentence; numbers of words by their indices, and ids of names."""
    rows = []
    for place, predicate in enumerate(predicates):
        for role, head, *_ in predicate.arguments:
            if head in numbers and role in roles and head != predicate.word:
                rows.append((place, numbers[head], roles[role]))
    words = [numbers[each.word] for each in predicates]
    return Roles(
        len(numbers),
        np.array(words, dtype=np.int64),
        np.array([rolesets.get(each.roleset, -1) for each in predicates], dtype=np.int64),
        np.array(rows, dtype=np.int64).reshape(-1, 3),
    )


def _cut(sentence: Sentence) -> list[Sentence]:
    """Cut a very long sentence into parts."""
    parts = cut_long(sentence)
    if len(parts) == 1 or not isinstance(sentence, RoleInput):
        return parts
    start, inputs = 0, list[Sentence]()
    for part in parts:
        end, own = start + len(part.words), sentence.predicates
        if own is not None:
            own = tuple(word - start for word in own if start <= word < end)
        inputs.append(RoleInput(**vars(part), candidates=sentence.candidates[start:end], predicates=own))
        start = end
    return inputs


def _join(parts: Sequence[Roles]) -> Roles:
    """Join the roles of the parts of a sentence."""
    if len(parts) == 1:
        return parts[0]
    words = np.cumsum([0, *(part.n_words for part in parts)])
    places = np.cumsum([0, *(len(part.predicates) for part in parts)])
    moved = []
    for part, word, place in zip(parts, words, places, strict=False):
        arguments = part.arguments + np.array([place, word, 0])
        moved.append(part._replace(predicates=part.predicates + word, arguments=arguments))
    columns = dict[str, Any]()
    for name in Roles._fields[1:-1]:
        columns[name] = np.concatenate([getattr(part, name) for part in moved])
    return Roles(int(words[-1]), coverage="chunked", **columns)


@factory(
    "role_labeler",
    RoleLabelerSettings,
    assigns=[f"doc._.{ROLES}"],
    default_score_weights={f"role_{name}_f": float(name == "heads") for name in METRICS},
)
def make_role_labeler(nlp: Language, name: str, settings: RoleLabelerSettings) -> RoleLabeler:
    """Make the ``role_labeler`` component, which finds predicates, their rolesets and their arguments."""
    return RoleLabeler(nlp.vocab, name, settings)
