"""Learn the conventions of a treebank from its enhanced graphs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ..data.enhanced import read_deps
from ..errors import Errors
from ..formats.conllu import read_conllu
from ..formats.graph import Arc, universal
from ..formats.rows import ConlluWord
from .conventions import MARKED, PREDICATES, Conventions, pattern_of
from .rules import Enhancer, enhance

#: Words of each sentence, and heads and labels of each word in the enhanced graph.
Gold = Sequence[tuple[Sequence[ConlluWord], Sequence[Sequence[Arc]]]]
#: Number of sentences to learn from at most. They are evenly spaced in the treebank.
N_SENTENCES = 1500
#: Ends of patterns of labels.
ENDS = ("", ":MARKER", ":CASE", ":MARKER:CASE", ":EITHER")
#: Subjects of complements where predicative ones have a label of their own.
PREDICATIVE = (("xcomp", "nsubj:xsubj"), ("xcomp:pred", "nsubj:pred"))
#: Values of the other conventions, in the order in which they are tried.
CHOICES: dict[str, Sequence[Any]] = {
    "unshared": (("conj", "parataxis", "root"), ("conj", "parataxis"), ("conj", "root"), ("conj",), ()),
    "pronouns": (("PronType=Rel", "PronType=Int,Rel"), ("PronType=Rel", "PronType=Int")),
    "relatives": ("moved", "named", "kept", ""),
    "controlled": ((("xcomp", "nsubj:xsubj"),), (("xcomp", "nsubj"),), PREDICATIVE, ()),
    "controlled_pos": (PREDICATES, ("VERB",), ("ADJ", "NOUN", "PRON", "PROPN")),
    "shared_modifiers": (False, True),
    "shared_subjects": ("voice", "same", ""),
    "markers": ("last", "first", "all"),
    "nominal_markers": (("case",), ("case", "mark")),
    "fixed": ("form", "lemma", ""),
}


def learn_conventions(treebank: Path | str) -> dict[str, Any]:
    """Return the conventions of a treebank, as the setting of ``ud_enhancer`` has them.

    Patterns of labels are counted, and values of the other conventions are tried one by one.

    treebank: File in CoNLL-U. Sentences without an enhanced graph are left out.
    Raises ValueError if all are without one.
    """
    graphs = ((sentence.words, read_deps(sentence)) for sentence in read_conllu(treebank))
    gold = [(words, graph) for words, graph in graphs if any(graph)]
    if not gold:
        raise ValueError(Errors.E828.format(path=treebank))
    gold = gold[:: len(gold) // N_SENTENCES + 1]
    conventions = Conventions(labels=_labels(gold), relative_adverbs=_relative_adverbs(gold))
    for name, values in CHOICES.items():
        options = [replace(conventions, **{name: value}) for value in values]
        conventions = max(options, key=partial(_accuracy, gold))
    return asdict(conventions)


def _accuracy(gold: Gold, conventions: Conventions) -> float:
    """Return the number of correct arcs, divided by the number of arcs in both graphs."""
    n_correct = n_arcs = 0
    for words, graph in gold:
        for ours, theirs in zip(enhance(words, conventions), graph, strict=True):
            n_correct += len({*ours} & {*theirs})
            n_arcs += len(ours) + len(theirs)
    return n_correct / n_arcs


def _labels(gold: Gold) -> list[tuple[str, str]]:
    """Return the pattern of each label that is right most often, unless it follows from the others."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, graph in gold:
        enhancer = Enhancer(words, Conventions())
        for i, arcs in enumerate(graph, start=1):
            dep, head = enhancer.deps[i], enhancer.heads[i]
            for pattern in _patterns(dep) if head else ():
                counts[dep][pattern] += (head, enhancer.fill(pattern, i, dep)) in arcs
    labels = dict(MARKED)
    for dep in sorted(counts, key=lambda dep: (dep != universal(dep), dep)):
        default = pattern_of(dep, labels)
        best = max([default, *_patterns(dep)], key=counts[dep].__getitem__)
        if best != default:
            labels[dep] = best
    return [*labels.items()]


def _patterns(dep: str) -> list[str]:
    return [base + end for base, end in product(dict.fromkeys((dep, universal(dep))), ENDS)]


def _relative_adverbs(gold: Gold) -> list[str]:
    """Return the lemmas of adverbs that refer to an antecedent in most relative clauses."""
    counts = Counter[str]()
    for words, graph in gold:
        for word, arcs in zip(words, graph, strict=True):
            if word.upos == "ADV" and word.head and words[word.head - 1].deprel == "acl:relcl":
                counts[word.lemma] += 1 if any(dep == "ref" for _, dep in arcs) else -1
    return [lemma for lemma, count in counts.items() if count > 0]
