"""Score the facts of ``fact_finder`` against PropBank: heads of the core arguments (ARG0 to ARG4) of verbs.

    python -m experiments.facts dev.conllu propbank.tsv
    python -m experiments.facts dev.conllu propbank.tsv --pipeline training/model-best --textacy

FILE is a treebank. PROPBANK has a block for each of its sentences: ``# sent_id = ...``, then a line for each
predicate, with tabs between its word (from 1), its roleset, and arguments such as ``ARG0=6:5-6``: role,
head, first and last word. Sentences without a block don't count, nor do words that are no verbs (XPOS VB...).

A row is a recipe, on the trees of the file or on those of a pipeline that is given its words.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import spacy
from spacy.tokens import Doc

from spacy_g2g.data.docs import sentences_to_doc
from spacy_g2g.facts.fact_finder import FactFinder
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

#: Heads of the arguments of each predicate of a sentence, counted from 0.
Arguments = dict[int, set[int]]
CORE_ROLE = re.compile(r"ARG[0-4]")
LANG = "en"
#: Labels of spaCy's own English pipelines, which textacy knows, by those of Universal Dependencies.
LABELS_OF_SPACY = {"obj": "dobj", "iobj": "dative", "nsubj:pass": "nsubjpass", "csubj:pass": "csubjpass"}
LABELS_OF_SPACY |= {"aux:pass": "auxpass", "compound:prt": "prt"}


def read_propbank(path: Path) -> dict[str, Arguments]:
    """Read the core arguments of the predicates of each sentence, by its id."""
    blocks: dict[str, Arguments] = {}
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("# sent_id"):
            block = blocks[line.partition(" = ")[2]] = {}
        elif line:
            word, _, *arguments = line.split("\t")
            roles = (argument.partition("=") for argument in arguments)
            heads = {
                int(place.partition(":")[0]) - 1 for role, _, place in roles if CORE_ROLE.fullmatch(role)
            }
            block[int(word) - 1] = heads
    return blocks


def fact_arguments(doc: Doc) -> Arguments:
    """Return the arguments of the facts of a Doc that a verb states."""
    found: Arguments = defaultdict(set)
    for fact in FactFinder("fact_finder", LANG)(doc)._.g2g_facts:
        if fact.verb is not None:
            spans = (fact.subject, fact.object, fact.indirect_object, fact.clause)
            found[fact.verb[0].i] |= {span.root.i for span in spans if span is not None}
    return found


def tree_arguments(doc: Doc) -> Arguments:
    """Return subjects and objects as the tree has them: the recipe that people write for themselves."""
    found: Arguments = defaultdict(set)
    for token in doc:
        if token.dep_.partition(":")[0] in ("nsubj", "obj", "iobj"):
            found[token.head.i].add(token.i)
    return found


def textacy_arguments(doc: Doc) -> Arguments:
    """Return the subjects and objects of textacy's triples, which it reads from spaCy's labels."""
    from textacy.extract import subject_verb_object_triples  # type: ignore[import-not-found]

    found: Arguments = defaultdict(set)
    doc = doc.copy()
    for token in doc:
        token.dep_ = LABELS_OF_SPACY.get(token.dep_, token.dep_)
    for triple in subject_verb_object_triples(doc):
        # It returns whole phrases; a head is a word whose own head is outside.
        for words in (triple.subject, triple.object):
            heads = {word.i for word in words if word.head not in words or word.head == word}
            for verb in triple.verb:
                found[verb.i] |= heads
    return found


def score(
    sentences: list[tuple[ConlluSentence, Doc]],
    gold: dict[str, Arguments],
    recipe: Callable[[Doc], Arguments],
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a recipe, in percent."""
    n_right = n_found = n_gold = 0
    for sentence, doc in sentences:
        found = recipe(doc)
        for predicate, heads in gold[sentence.comment("sent_id") or ""].items():
            if sentence.words[predicate].xpos.startswith("VB"):
                own = found.get(predicate, set())
                n_right += len(heads & own)
                n_found += len(own)
                n_gold += len(heads)
    precision, recall = n_right / max(n_found, 1), n_right / max(n_gold, 1)
    return 100 * precision, 100 * recall, 200 * precision * recall / max(precision + recall, 1e-9)


def make_docs(path: Path, gold: dict[str, Arguments], pipeline: str) -> Iterator[tuple[ConlluSentence, Doc]]:
    """Yield each sentence of the file that has a block, and its Doc with the tree to score."""
    nlp = spacy.load(pipeline) if pipeline else spacy.blank(LANG)
    sentences = [each for each in read_conllu(path) if each.comment("sent_id") in gold]
    annotations = (
        ("SENT_START",) if pipeline else ("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP")
    )
    docs = [sentences_to_doc([each], nlp.vocab, annotations=annotations) for each in sentences]
    yield from zip(sentences, nlp.pipe(docs), strict=True)


def main() -> None:
    """Print a row for each recipe."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("propbank", type=Path, metavar="PROPBANK")
    parser.add_argument("--pipeline", default="", help="Pipeline whose trees are taken")
    parser.add_argument("--textacy", action="store_true", help="Score textacy, too")
    args = parser.parse_args()
    gold = read_propbank(args.propbank)
    sentences = [*make_docs(args.file, gold, args.pipeline)]
    recipes = {"fact_finder": fact_arguments, "subjects and objects of the tree": tree_arguments}
    if args.textacy:
        recipes["textacy"] = textacy_arguments
    print("| recipe | precision | recall | F1 |\n|---|---|---|---|")
    for name, recipe in recipes.items():
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in score(sentences, gold, recipe)) + " |")


if __name__ == "__main__":
    main()
