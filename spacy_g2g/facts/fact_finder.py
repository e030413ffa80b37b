"""The ``fact_finder`` component: who does what to whom, from trees or enhanced graphs of Docs.

This module is imported by every ``Language()`` and must stay light: no torch, no tokenizers.
"""

from spacy.language import Language
from spacy.tokens import Doc

from ..data.doc_record import FACTS, set_facts
from ..data.enhanced import own_enhanced
from ..enhanced.conventions import conventions_of
from ..enhanced.ud_enhancer import UDEnhancer
from ..errors import Errors
from .clauses import ClauseReader
from .doc_words import DocWords
from .word_lists import RELATIONS


@Language.factory(
    "fact_finder",
    requires=["token.head", "token.dep", "token.lemma", "token.pos", "token.morph"],
    assigns=[f"doc._.{FACTS}"],
    default_config={"lang": ""},
)
def make_fact_finder(nlp: Language, name: str, *, lang: str) -> "FactFinder":
    """Make the ``fact_finder`` component, which finds the facts that each Doc states, by rules.

    It comes after a parser with labels of Universal Dependencies, and after the components that set lemmas,
    parts of speech and features. If an ``ud_enhancer`` is before it, it reads that graph. Otherwise it makes
    the graph itself, and does not keep it.

    lang: Code of the language whose conventions the graphs follow; "" for that of the pipeline.
    """
    return FactFinder(name, lang or nlp.lang or "")


class FactFinder:
    """Sets ``doc._.g2g_facts``."""

    def __init__(self, name: str, lang: str) -> None:
        self.name, self.lang = name, lang
        self.enhancer = UDEnhancer(name, conventions_of(lang))

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc, and return it.

        Raises ValueError if it has words but no tree, or a tree with other labels than those of Universal
            Dependencies.
        """
        graph = own_enhanced(doc)
        words = DocWords(doc, self.enhancer.graph_of(doc) if graph is None else graph, self.lang)
        if unknown := sorted({*words.relations} - RELATIONS):
            raise ValueError(Errors.E827.format(name=self.name, labels=unknown[:5]))
        set_facts(doc, ClauseReader(words).rows())
        return doc
