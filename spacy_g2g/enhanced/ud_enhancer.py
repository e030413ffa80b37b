"""The ``ud_enhancer`` component: enhanced graphs from the trees, lemmas and features of Docs.

This module is imported by every ``Language()`` and must stay light: no torch, no tokenizers.
"""

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Token

from ..data.doc_graphs import to_sentence, tree_of
from ..data.docs import sentences_of
from ..data.enhanced import ENHANCED, set_enhanced
from ..data.multiword import word_forms
from ..errors import Errors
from ..formats.graph import MISSING, Arc
from .conventions import Conventions, conventions_of
from .rules import Word, enhance


@Language.factory(
    "ud_enhancer",
    requires=["token.head", "token.dep", "token.lemma", "token.pos", "token.morph"],
    assigns=[f"doc._.{ENHANCED}", f"token._.{ENHANCED}"],
    default_config={"lang": "", "conventions": None},
)
def make_ud_enhancer(
    nlp: Language, name: str, *, lang: str, conventions: dict[str, Any] | None
) -> "UDEnhancer":
    """Make the ``ud_enhancer`` component, which writes the enhanced graph of each Doc by rules.

    It comes after a parser with labels of Universal Dependencies, and after the components that set lemmas,
    parts of speech and features.

    lang: Code of the language whose conventions the graphs follow; "" for that of the pipeline.
    conventions: Conventions of a treebank, from ``learn_conventions``, instead of the language's; or null.
    """
    by_language = conventions_of(lang or nlp.lang or "")
    return UDEnhancer(name, by_language if conventions is None else Conventions(**conventions))


class UDEnhancer:
    """Sets ``doc._.g2g_enhanced``, which ``token._.g2g_enhanced`` reads."""

    def __init__(self, name: str, conventions: Conventions) -> None:
        self.name, self.conventions = name, conventions

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc, and return it. Raises ValueError if it has words but no tree."""
        set_enhanced(doc, self.graph_of(doc))
        return doc

    def graph_of(self, doc: Doc) -> list[list[Arc]]:
        """Return the enhanced graph of a Doc's trees. Raises ValueError if it has words but no tree."""
        arcs: list[list[Arc]] = [[] for _ in doc]
        tree, forms = tree_of(doc), word_forms(doc)
        for span in sentences_of(doc):
            places = [token.i for token in span if not token.is_space]
            if places and not doc.has_annotation("DEP"):
                raise ValueError(Errors.E824.format(text=doc.text[:40], name=self.name))
            graph = to_sentence(tree, places, doc)
            words = [_read(doc[i], forms[i], graph.arc(number)) for number, i in enumerate(places, start=1)]
            for place, word_arcs in zip(places, enhance(words, self.conventions), strict=True):
                arcs[place] = [(places[head - 1] if head else place, dep) for head, dep in word_arcs]
        return arcs


def _read(token: Token, form: str, arc: Arc) -> Word:
    """Read a word for the rules. Its form in lower case replaces a missing lemma."""
    head, dep = arc
    lemma = token.lemma_ or form.lower()
    return Word(form, lemma, token.pos_, str(token.morph), None if head == MISSING else head, dep)
