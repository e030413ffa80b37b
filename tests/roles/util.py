"""Sentences with trees and roles, and pipelines with a tiny network of roles."""

from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_g2g.data.roles import Argument, Predicate, set_roles
from spacy_g2g.roles.role_labeler import RoleLabeler

from ..util import TINY_MODEL, gold_doc, plain_doc, read_treebank, set_encoder

#: Roles of some of the ten sentences of ``tests.util``, by their numbers; the others have no predicate.
ROLES = {
    0: [Predicate(1, "see.01", (Argument("ARG0", 0, 0, 1), Argument("ARG1", 3, 2, 4)))],
    1: [Predicate(1, "bark.01", (Argument("ARG0", 0, 0, 1),))],
    2: [Predicate(0, "go.02")],
    4: [Predicate(5, "sleep.01", (Argument("ARG0", 1, 0, 5),))],
    5: [Predicate(3, "mix.01", (Argument("ARG1", 0, 0, 3),))],
    6: [
        Predicate(1, "say.01", (Argument("ARG0", 0, 0, 1), Argument("ARG1", 4, 2, 5))),
        Predicate(4, "leave.01", (Argument("ARG0", 3, 3, 4),)),
    ],
    8: [Predicate(3, "look.01", (Argument("ARG0", 2, 2, 3), Argument("ARG1", 0, 0, 1)))],
}


def role_docs(vocab: Vocab) -> list[Doc]:
    """The ten sentences with their trees and roles."""
    docs = [gold_doc(vocab, [sentence]) for sentence in read_treebank()]
    for number, doc in enumerate(docs):
        set_roles(doc, ROLES.get(number, []))
    return docs


def role_examples(nlp: Language, *, trees: bool = True) -> list[Example]:
    """An Example of each of the ten sentences, whose predicted Doc has the gold tree, or no tree."""
    examples = []
    for gold, sentence in zip(role_docs(nlp.vocab), read_treebank(), strict=True):
        predicted = (
            gold_doc(nlp.vocab, [sentence]) if trees else plain_doc(nlp.vocab, [w[0] for w in sentence])
        )
        examples.append(Example(predicted, gold))
    return examples


def role_nlp(**settings: Any) -> Language:
    """A pipeline of an uninitialized tiny labeler with an encoder of its own; settings of the network."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    model = {"@architectures": "spacy_g2g.RoleNetwork.v1", **TINY_MODEL, **settings}
    nlp.add_pipe("role_labeler", config={"model": model})
    set_encoder(nlp, "role_labeler")
    return nlp


def labeler_of(nlp: Language) -> RoleLabeler:
    labeler = nlp.get_pipe("role_labeler")
    assert isinstance(labeler, RoleLabeler)
    return labeler
