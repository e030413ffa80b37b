"""The metrics of the CoNLL 2018 shared task, https://universaldependencies.org/conll18/evaluation.html.

Each metric relates the number of correct items to the gold items, the system's items and the aligned items:

- Tokens and Sentences compare spans of the text. Words counts aligned words (see ``alignment``).
- UPOS, XPOS, UFeats, AllTags and Lemmas compare columns of aligned words. A gold lemma "_" matches any lemma.
- UAS compares heads. LAS compares heads and relations without their subtypes. Punctuation counts.
- UAS_nopunct and LAS_nopunct leave out gold words that are punctuation by a rule (see ``punctuation``), as is
  usual on treebanks other than UD. They are computed on request and are not metrics of the shared task.
- ELAS and EULAS compare heads and labels of enhanced graphs, EULAS without the subtypes of labels. The tasks
  of IWPT 2020 and 2021 define them. They are computed if both sides have such graphs.
- CLAS is LAS over content words. BLEX also compares their lemmas. MLAS also compares their UPOS and features,
  and those of their functional dependents.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..data.enhanced import STEP
from ..formats.conllu import ConlluSentence
from ..formats.graph import universal
from ..formats.rows import ConlluWord
from .alignment import PlacedText, Span, align_words, check_same_text, place_words
from .rates import ratio

_CONTENT = (
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod "
    "acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep"
)
CONTENT_RELATIONS = frozenset(_CONTENT.split())
FUNCTIONAL_RELATIONS = ("aux", "cop", "mark", "det", "clf", "case", "cc")
_FEATURES = (
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood "
    "Tense Aspect Voice Evident Polarity Person Polite"
)
UNIVERSAL_FEATURES = frozenset(_FEATURES.split())


@dataclass(frozen=True)
class Score:
    """Counts of one metric and its rates between 0 and 1. A rate with a denominator of 0 is 0.

    correct, gold, system: Numbers of correct items, gold items and the system's items.
    aligned: Number of aligned words that count; None for Tokens, Sentences and Words.
    empty: Whether all gold items lack the value to score, such as an XPOS.
    """

    correct: int
    gold: int
    system: int
    aligned: int | None = None
    empty: bool = False

    @property
    def precision(self) -> float:
        """Share of the system's items that are correct."""
        return ratio(self.correct, of=self.system) or 0.0

    @property
    def recall(self) -> float:
        """Share of the gold items that are correct."""
        return ratio(self.correct, of=self.gold) or 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.correct, of=self.system + self.gold) or 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """Share of the aligned words that are correct; None for Tokens, Sentences and Words."""
        return None if self.aligned is None else ratio(self.correct, of=self.aligned) or 0.0


class _Features(NamedTuple):
    """Features of a word that the metrics compare. Indices are those of gold words, also for a system.

    head: Gold index of the head, ROOT, MISSING, or UNALIGNED.
    relation: Dependency relation without its subtype.
    feats: Universal features, sorted.
    lemma: Lemma, or "_" if it matches any lemma.
    functional: Gold index, relation, UPOS and features of each functional dependent.
    """

    head: int
    relation: str
    upos: str
    xpos: str
    feats: tuple[str, ...]
    lemma: str
    functional: tuple[tuple[int, str, str, tuple[str, ...]], ...]


ROOT, MISSING, UNALIGNED = -1, -2, -3

#: Part of the features that must be equal in two aligned words, by metric.
_WORD_METRICS: dict[str, Callable[[_Features], Hashable]] = {
    "UPOS": lambda word: word.upos,
    "XPOS": lambda word: word.xpos,
    "UFeats": lambda word: word.feats,
    "AllTags": lambda word: (word.upos, word.xpos, word.feats),
    "Lemmas": lambda word: word.lemma,
    "UAS": lambda word: word.head,
    "LAS": lambda word: (word.head, word.relation),
}
#: Part that must be equal in two aligned content words, by metric.
_CONTENT_METRICS: dict[str, Callable[[_Features], Hashable]] = {
    "CLAS": lambda word: (word.head, word.relation),
    "MLAS": lambda word: (word.head, word.relation, word.upos, word.feats, word.functional),
    "BLEX": lambda word: (word.head, word.relation, word.lemma),
}
#: Part of a label that must be equal in two arcs of enhanced graphs, by metric.
_ENHANCED_METRICS: dict[str, Callable[[str], Hashable]] = {
    "ELAS": lambda dep: dep,
    "EULAS": lambda dep: tuple(map(universal, dep.split(STEP))),
}


def evaluate_sentences(
    gold: Iterable[ConlluSentence],
    *,
    system: Iterable[ConlluSentence],
    is_punctuation: Callable[[ConlluWord], bool] | None = None,
) -> dict[str, Score]:
    """Score a system's annotation of a text. The system's sentences and tokens may differ from the gold ones.

    gold: Sentences with gold annotation.
    system: Sentences of the same text with the system's annotation.
    is_punctuation: Returns whether to leave out a gold word, and the system word aligned with it, from
        UAS_nopunct and LAS_nopunct; None to leave out these two metrics.
    Returns a score for each metric in the order of the shared task: Tokens, Sentences, Words, UPOS, XPOS,
        UFeats, AllTags, Lemmas, UAS, LAS, CLAS, MLAS, BLEX; then the metrics without punctuation; then ELAS
        and EULAS.
    Raises ValueError if the texts differ.

    >>> sentences = doc_to_sentences(doc)
    >>> evaluate_sentences(sentences, system=sentences)["LAS"].f1
    1.0
    """
    gold_text, system_text = place_words(gold), place_words(system)
    check_same_text(gold_text, system=system_text)
    aligned = align_words(gold_text.words, system=system_text.words)
    gold_words = _features(gold_text, {i: i for i in range(len(gold_text.words))}, MISSING)
    system_words = _features(system_text, {s: g for g, s in aligned.items()}, UNALIGNED)
    pairs = []
    for g, s in aligned.items():
        gold_word, word = gold_words[g], system_words[s]
        pairs.append((gold_word, word._replace(lemma="_") if gold_word.lemma == "_" else word))
    scores = {
        "Tokens": _score_spans(gold_text.tokens, system_text.tokens),
        "Sentences": _score_spans(gold_text.sentences, system_text.sentences),
        "Words": Score(len(pairs), len(gold_words), len(system_words)),
    }
    for name, key in _WORD_METRICS.items():
        scores[name] = _score_words(gold_words, system_words, pairs, key)
    without_punctuation = {}
    if is_punctuation is not None:
        left_out = {g for g, placed in enumerate(gold_text.words) if is_punctuation(placed.word)}
        n_left_out = sum(g in left_out for g in aligned)
        scored = [pair for g, pair in zip(aligned, pairs, strict=True) if g not in left_out]
        for name in ("UAS", "LAS"):
            score = _score_words(gold_words, system_words, scored, _WORD_METRICS[name])
            n_gold, n_system = score.gold - len(left_out), score.system - n_left_out
            without_punctuation[f"{name}_nopunct"] = replace(score, gold=n_gold, system=n_system)
    gold_words = [word for word in gold_words if word.relation in CONTENT_RELATIONS]
    system_words = [word for word in system_words if word.relation in CONTENT_RELATIONS]
    pairs = [(word, other) for word, other in pairs if word.relation in CONTENT_RELATIONS]
    for name, key in _CONTENT_METRICS.items():
        scores[name] = _score_words(gold_words, system_words, pairs, key)
    return scores | without_punctuation | _score_enhanced(gold_text, system_text, aligned)


def _score_enhanced(gold: PlacedText, system: PlacedText, aligned: Mapping[int, int]) -> dict[str, Score]:
    """Score enhanced graphs, if both texts have them. As in the tasks, each pair of equal arcs counts."""
    n_gold = sum(len(placed.arcs) for placed in gold.words)
    n_system = sum(len(placed.arcs) for placed in system.words)
    gold_index, scores = {ROOT: ROOT, **{s: g for g, s in aligned.items()}}, {}
    for name, key in _ENHANCED_METRICS.items() if n_gold and n_system else ():
        correct = 0
        for g, s in aligned.items():
            arcs = [(gold_index.get(head), key(dep)) for head, dep in system.words[s].arcs]
            correct += sum(arcs.count((head, key(dep))) for head, dep in gold.words[g].arcs)
        scores[name] = Score(correct, n_gold, n_system)
    return scores


def _score_spans(gold: Sequence[Span], system: Sequence[Span]) -> Score:
    return Score((Counter(gold) & Counter(system)).total(), len(gold), len(system))


def _score_words(
    gold: Sequence[_Features],
    system: Sequence[_Features],
    pairs: Sequence[tuple[_Features, _Features]],
    key: Callable[[_Features], Hashable],
) -> Score:
    correct = sum(key(gold_word) == key(system_word) for gold_word, system_word in pairs)
    return Score(correct, len(gold), len(system), len(pairs), all(_is_empty(key(word)) for word in gold))


def _is_empty(value: Hashable) -> bool:
    """Return whether a feature of a gold word, or all of several, are missing."""
    return all(map(_is_empty, value)) if isinstance(value, tuple) else value in ("_", MISSING)


def _features(text: PlacedText, gold_index: Mapping[int, int], missing: int) -> list[_Features]:
    """Return the features of each word of a text.

    gold_index: Gold index of each aligned word by its index in the text.
    missing: Value for a missing head. It differs between gold and system, so that it is never correct.
    """
    own = []  # features that a word contributes as a functional dependent
    functional = defaultdict(list)
    for i, placed in enumerate(text.words):
        word = placed.word
        relation = universal(word.deprel)
        feats = (feat for feat in word.feats.split("|") if feat.partition("=")[0] in UNIVERSAL_FEATURES)
        own.append((gold_index.get(i, UNALIGNED), relation, word.upos, tuple(sorted(feats))))
        if relation in FUNCTIONAL_RELATIONS and placed.head is not None:
            functional[placed.head].append(own[-1])
    features = []
    for i, (placed, (_, relation, upos, universal_feats)) in enumerate(zip(text.words, own, strict=True)):
        head, word = placed.head, placed.word
        if head is None:
            head = missing
        elif head != ROOT:
            head = gold_index.get(head, UNALIGNED)
        dependents = tuple(functional[i])
        features.append(_Features(head, relation, upos, word.xpos, universal_feats, word.lemma, dependents))
    return features
