"""Small AMRs, written by hand, and their sentences."""

from spacy_g2g.amr.formats.penman_text import parse_penman
from spacy_g2g.amr.parsing.actions import ActionKind, AmrSentence
from spacy_g2g.amr.parsing.build import build_graph
from spacy_g2g.amr.parsing.graph import AmrGraph, canonical
from spacy_g2g.amr.parsing.machine import AmrState
from spacy_g2g.amr.parsing.table import AmrActions

# Reentrancy, inverse roles, a name, numbers, polarity and mode, a cycle, several nodes of one word.
SAMPLES = {
    "The boy wants to sleep": "(w / want-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))",
    "I saw the girl who sang in Paris": """
        (s / see-01 :ARG0 (i / i)
            :ARG1 (g / girl
                :ARG0-of (s2 / sing-01
                    :location (c / city :wiki "Paris" :name (n / name :op1 "Paris")))))""",
    "Do not feed six lions !": """
        (f / feed-01 :polarity - :mode imperative :ARG0 (y / you) :ARG2 (l / lion :quant 6))""",
    "Teachers taught the boys": """
        (t / teach-01 :ARG0 (p / person :ARG0-of (t2 / teach-01)) :ARG2 (b / boy :mod (m / male)))""",
    "He fell into a hole that he dug": """
        (f / fall-01 :ARG1 (h / he) :destination (h2 / hole :ARG1-of (d / dig-01 :ARG0 h :cause f)))""",
    "It cost three million dollars": """
        (c / cost-01 :ARG1 (i / it) :ARG2 (m / monetary-quantity :quant 3000000 :unit (d / dollar)))""",
    "": "(a / amr-empty)",
    "Yes": "(y / yes :mode expressive)",
}

#: Marks of PENMAN, white space, control characters, letters that change in lower case.
_ODD = (
    'a/b (x x~1 x~e.1 e~1 ~e.1 :-" "x http://x.y/?z=(1) 👩‍👩‍👧‍👦 e\u0301\u0302 שלום '
    "\u202eabc\u202c a\x00b \u2028x [SEP] <ROOT> -01 amr-unknown"
)
ODD_WORDS = [
    *"/():\"'~\\#-.%&<| \n\x00\x1c\x85\u2028\u0301\u200bİǅi🙂", "New York", "x" * 300, *_ODD.split(" "),
]  # fmt: skip


def graph_of(text: str) -> AmrGraph:
    return AmrGraph.from_tree(parse_penman(text))


def sentence_of(text: str) -> AmrSentence:
    return AmrSentence.of(text.split())


def facts(graph: AmrGraph) -> tuple:
    """What graphs that are equal but for the order have in common; edges by the labels of their ends."""
    edges = [
        (graph.labels[source], role, graph.labels[target])
        for source, role, target in map(canonical, graph.edges)
    ]
    labels = sorted((label, node in graph.constants) for node, label in enumerate(graph.labels))
    return graph.labels[graph.top], labels, sorted(edges)


def labels_of(table: AmrActions, kind: ActionKind) -> list[str]:
    return [action.label for action in table.actions if action.kind == kind]


def execute(sentence: AmrSentence, actions) -> AmrGraph:
    state = AmrState(sentence)
    for action in actions:
        state.apply(action)
    return build_graph(state)
