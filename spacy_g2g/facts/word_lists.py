"""Words and labels that the rules for facts know."""

from ..evaluation.conll18 import CONTENT_RELATIONS, FUNCTIONAL_RELATIONS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Relations of Universal Dependencies, and what stands for them in Docs.
RELATIONS = CONTENT_RELATIONS | _set("punct ROOT _") | {*FUNCTIONAL_RELATIONS, ""}
#: Arguments of a clause, by their relations.
ARGUMENTS = {"nsubj": "subject", "csubj": "subject", "obj": "object", "iobj": "indirect_object"}
ARGUMENTS |= {"ccomp": "clause", "xcomp": "clause"}
#: Relations that only predicates have as heads.
OF_PREDICATES = frozenset({*ARGUMENTS, "cop"})
#: Relations whose dependents are clauses.
CLAUSAL = _set("csubj ccomp xcomp advcl")
#: Relations of words that are no predicates, whatever their part of speech.
NO_PREDICATE = _set("aux cop case cc mark det fixed flat goeswith compound discourse reparandum punct")
#: Labels of the other words of a predicate that has several, such as *look up*.
PARTS = _set("compound:prt compound:lvc expl:pv")
#: Relations of negative words beside a predicate.
NEGATING = _set("advmod aux cop det discourse")
#: Dependents that are not in the text of a clause, of a predicative word, or of another word.
NOT_IN_CLAUSE = _set("cc conj mark parataxis discourse vocative reparandum")
NOT_IN_PREDICATIVE = NOT_IN_CLAUSE | _set("acl advcl appos aux cop csubj dislocated expl nsubj obl orphan")
NOT_IN_NOUN = (NOT_IN_PREDICATIVE | _set("case ccomp xcomp")) - {"obl"}
#: Markers of the agent of a passive whose label is ``obl`` alone.
AGENTS = _set("by tarafından")  # noqa: RUF001
#: Markers of who says something.
SPEAKERS = _set("according_to selon d'après secondo göre según laut enligt volgens")
#: Verbs of speech and thought, which stand beside what is said: *it works, she said*.
SPEECH = _set(
    "add admit announce answer argue ask believe claim complain conclude continue declare explain guess hope "
    "insist note observe report reply say shout state suggest suppose tell think warn whisper wonder write "
    "affirmer ajouter annoncer crier croire demander dire déclarer estimer expliquer penser répondre "
    "affermare aggiungere annunciare chiedere credere dichiarare pensare rispondere spiegare "
    "de söyle belirt açıkla sor düşün anlat yaz ekle"  # noqa: RUF001
)
#: Verbs that are auxiliaries of their ``xcomp``, by language: *have to go*, *going to go*, *used to go*.
SEMI_AUXILIARIES = {"en": _set("go have use"), "fr": _set("aller devoir pouvoir")}
#: Negative words, where features do not tell.
NEGATIONS = _set("not n't nt no never nobody nothing none nowhere neither değil")
#: Values of the feature Case that tell nothing: those of subjects and objects.
CORE_CASES = _set("Nom Acc Abs Erg")
QUESTION_MARKS = _set("? ？ ؟ ⸮")  # noqa: RUF001
#: Predicates that need no word of the sentence.
BE, HAVE = "be", "have"
