"""Words by class, and the phrases that each class licenses.

The classes decide what a preposition or a conjunction attaches to: "with the telescope" belongs to
a verb of seeing, "with the beard" to a person. Nothing else decides this, so a parser must learn the
words.
"""

from __future__ import annotations

from typing import NamedTuple


def _words(text: str) -> list[str]:
    return text.split()


NOUNS: dict[str, list[str]] = {
    cls: words.split()
    for cls, words in {
        "person": "teacher doctor lawyer farmer singer student pilot nurse baker painter soldier child"
        " man woman boy girl neighbor mayor judge writer sailor tourist guest thief queen",
        "animal": "dog cat horse bird fox goat wolf cow duck rabbit",
        "place": "village city park market station museum garden island valley forest harbor",
        "building": "house tower castle church barn cabin hotel school library mill",
        "vehicle": "car train bus boat truck ship",
        "surface": "table shelf desk bench bed counter",
        "container": "box drawer basket cupboard bag",
        "artifact": "lamp cup chair vase clock bicycle guitar mirror radio bottle coat pot",
        "document": "book letter report article poem story map novel",
        "topic": "war storm election economy accident fire history weather strike revolution",
        "food": "soup bread cake apple rice fish cheese salad pie potato",
        "optic": "telescope microscope camera lens",
        "tool": "knife hammer key axe rope saw",
        "cutlery": "spoon fork chopstick",
        "feature": "beard hat scarf smile mustache umbrella",
        "part": "roof window door balcony chimney garage gate",
        "gear": "wheel engine",
        "fitting": "handle lid label crack",
        "event": "concert meeting party lecture wedding match",
        "idea": "plan idea proposal decision claim promise",
        "team": "team group crowd family",
    }.items()
}
RARE_NOUNS: dict[str, list[str]] = {  # only in the development and test sets
    "person": ["librarian", "carpenter"],
    "animal": ["donkey"],
    "place": ["desert"],
    "artifact": ["kettle"],
    "document": ["essay"],
    "food": ["omelet"],
    "topic": ["drought"],
}
MASS = {"soup", "bread", "rice", "cheese", "weather", "economy", "history"}
COUNTED = {"person", "animal", "building", "vehicle", "document", "event"}  # every, each
THINGS = ["artifact", "document", "food"]

GIVEN_NAMES = _words(
    "Anna Bruno Clara David Emma Felix Grace Hugo Irene Jonas Laura Marco Nina Oscar Paula Simon"
)
SURNAMES = _words("Keller Brown Rossi Novak Moreau Larsen Silva Weber Clark Hughes Costa Berg")
RARE_NAMES = ["Tilda", "Ramon", "Okafor", "Lindqvist"]
TOWNS = _words("Weston Oakville Ridgeford Millbrook Ashdale Norwick Harborne Stonefield")
MONTHS = _words("January March April May June August October November")
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
NUMBERS = _words("two three four five six ten twelve twenty")

ADJECTIVES: dict[str, list[str]] = {
    "person": _words("old young tall clever honest tired happy rich poor famous nervous careful"),
    "animal": _words("old young small big gray hungry wild fast"),
    "thing": _words("new old heavy small big cheap expensive wooden red green beautiful dirty"),
    "place": _words("old quiet small big famous beautiful"),
    "food": _words("fresh warm sweet cold small big delicious"),
    "event": _words("long short boring famous important strange"),
    "idea": _words("clever strange simple serious important new"),
}
GRADED = {  # adjectives that take -er and -est
    "old", "young", "tall", "clever", "rich", "poor", "small", "big", "fast", "new", "heavy", "cheap",
    "dirty", "fresh", "warm", "sweet", "cold", "long", "short", "strange", "simple", "happy",
}  # fmt: skip
JUDGEMENTS = _words("clear strange possible obvious likely unfair")  # it is ... that
EFFORTS = _words("hard easy dangerous important impossible pleasant")  # it is ... to
COMPOUNDS = {  # the first noun of a compound, by the second
    "table": "kitchen", "door": "garage", "soup": "potato", "pie": "apple", "house": "farm", "story": "war",
    "report": "weather", "museum": "history", "station": "train", "roof": "barn", "teacher": "school",
    "driver": "bus", "box": "tool", "lamp": "desk", "market": "fish", "bridge": "stone", "shelf": "book",
    "concert": "guitar", "student": "history", "window": "kitchen", "key": "house", "cake": "cheese",
    "article": "newspaper", "gate": "garden",
}  # fmt: skip

MANNER = _words("quickly quietly carefully suddenly slowly secretly")
FREQUENCY = _words("always never often usually sometimes rarely")
DEGREE = _words("very quite rather extremely")
OPENERS = _words("fortunately however therefore meanwhile unfortunately")
INTERJECTIONS = _words("well yes no oh okay")
REASONS = _words("because although after before while since if unless")

DETERMINERS = {
    "the": ("the", "DT", "Definite=Def|PronType=Art"),
    "a": ("a", "DT", "Definite=Ind|PronType=Art"),
    "this": ("this", "DT", "Number=Sing|PronType=Dem"),
    "that": ("that", "DT", "Number=Sing|PronType=Dem"),
    "these": ("this", "DT", "Number=Plur|PronType=Dem"),
    "those": ("that", "DT", "Number=Plur|PronType=Dem"),
    "every": ("every", "DT", "PronType=Tot"),
    "some": ("some", "DT", "PronType=Ind"),
    "each": ("each", "DT", "PronType=Tot"),
    "all": ("all", "PDT", "PronType=Tot"),
    "both": ("both", "PDT", "PronType=Tot"),
}

NounPhrase = tuple[str, str]  # preposition and class of its noun
NOUN_PHRASES: dict[str, list[NounPhrase]] = {  # phrases that a noun takes as nmod
    "person": [("with", "feature"), ("with", "feature"), ("from", "place"), ("in", "place")],
    "animal": [("from", "place"), ("in", "place")],
    "building": [("with", "part"), ("with", "part"), ("in", "place"), ("near", "place")],
    "vehicle": [("with", "gear"), ("with", "gear"), ("from", "place")],
    "artifact": [
        ("with", "fitting"),
        ("with", "fitting"),
        ("on", "surface"),
        ("in", "container"),
        ("of", "person"),
    ],
    "document": [("about", "topic"), ("about", "topic"), ("by", "person"), ("on", "surface")],
    "food": [("with", "food"), ("from", "place"), ("on", "surface")],
    "topic": [("in", "place")],
    "event": [("in", "place"), ("for", "person")],
    "idea": [("about", "topic"), ("of", "person")],
    "team": [("of", "person")],
    "place": [("near", "building")],
    "part": [("of", "building")],
}


class VerbClass(NamedTuple):
    """Verbs with the same frame: classes of subject and object, and the phrases that they take as obl."""

    verbs: list[str]
    subject: list[str]
    object: list[str]
    phrases: list[NounPhrase]
    needs_phrase: bool = False


def _verbs(verbs: str, subject: str, objects: str, phrases: str, needs_phrase: bool = False) -> VerbClass:
    pairs = [(prep, cls) for prep, _, cls in (item.partition(":") for item in phrases.split())]
    return VerbClass(verbs.split(), subject.split(), objects.split(), pairs, needs_phrase)


VERBS: dict[str, VerbClass] = {
    "perceive": _verbs(
        "see watch notice spot observe photograph",
        "person",
        "person animal building vehicle vehicle team",
        "with:optic with:optic from:building through:part",
    ),
    "handle": _verbs(
        "cut open break repair clean", "person", "artifact part", "with:tool with:tool with:tool in:place"
    ),
    "eat": _verbs(
        "eat taste share finish", "person animal", "food", "with:cutlery with:cutlery in:place with:person"
    ),
    "read": _verbs("read write study translate", "person", "document", "in:place with:person during:event"),
    "own": _verbs(
        "own know like remember love hate",
        "person",
        "person artifact document building food event vehicle vehicle",
        "",
    ),
    "meet": _verbs("meet greet invite thank visit", "person", "person", "at:event in:place after:event"),
    "chase": _verbs("chase bite follow frighten", "animal", "animal person", "through:place through:place"),
    "put": _verbs(
        "put leave hide place", "person", "artifact document food", "on:surface in:container", True
    ),
    "get": _verbs(
        "receive buy borrow steal", "person", "artifact document food", "from:person from:person for:person"
    ),
    "make": _verbs("build paint design draw", "person", "building artifact", "for:person for:team"),
    "move": _verbs(
        "carry bring drag take", "person animal", "artifact food", "to:place to:building from:place"
    ),
    "talk": _verbs("talk argue speak laugh", "person", "", "about:topic about:document with:person"),
    "rest": _verbs(
        "sleep wait work sit stay", "person animal", "", "in:place near:building at:event on:surface"
    ),
    "go": _verbs(
        "walk run hurry travel swim", "person animal", "", "to:place through:place from:place with:person"
    ),
    "arrive": _verbs(
        "arrive appear return escape", "person animal vehicle team", "", "with:person from:place in:place"
    ),
    "stand": _verbs("stand fall burn lie", "building artifact", "", "in:place near:building during:topic"),
    "judge": _verbs("reject accept support discuss", "person team", "idea", "at:event after:event"),
    "end": _verbs("end begin fail", "event topic", "", "in:place after:event"),
}
TRANSITIVE = [name for name, verbs in VERBS.items() if verbs.object]
ACTIONS = [name for name in TRANSITIVE if name != "own"]
INTRANSITIVE = ["talk", "rest", "go", "arrive"]

GIVE = _words("give send show offer sell lend")
TELL = _words("tell remind warn")
SAY = _words("say think believe hope claim know explain")
WONDER = _words("wonder ask forget")
WANT = _words("want try decide hope plan refuse promise begin manage")  # to + infinitive
ASK = _words("ask persuade allow force order")  # person + to + infinitive
KEEP = _words("keep start enjoy avoid")  # + gerund
CAUSE = _words("make let help")  # person + infinitive
SURPRISE = _words("surprise annoy amuse")
LINK = _words("seem look become feel remain")  # + adjective
PARTICLES = [  # verb, particle, classes of its object
    ("pick", "up", THINGS), ("throw", "away", THINGS), ("turn", "off", ["artifact", "vehicle"]),
    ("bring", "back", THINGS), ("take", "out", THINGS), ("look", "up", ["document"]),
    ("give", "up", ["idea"]), ("put", "down", THINGS),
]  # fmt: skip
LEAVE = [("give", "up"), ("come", "back"), ("wake", "up"), ("go", "away")]  # no object

DOUBLED = {
    "spot", "cut", "drag", "run", "swim", "put", "sit", "begin", "plan", "let", "big", "forget",
}  # fmt: skip
IRREGULAR_NOUNS = {
    "man": "men", "woman": "women", "child": "children", "wolf": "wolves", "thief": "thieves",
    "shelf": "shelves", "knife": "knives", "fish": "fish", "potato": "potatoes",
}  # fmt: skip
_IRREGULAR = """
see saw seen; cut cut cut; break broke broken; eat ate eaten; read read read; write wrote written
know knew known; meet met met; bite bit bitten; put put put; leave left left; hide hid hidden
buy bought bought; steal stole stolen; build built built; draw drew drawn; bring brought brought
take took taken; speak spoke spoken; sleep slept slept; sit sat sat; run ran run; swim swam swum
stand stood stood; fall fell fallen; lie lay lain; begin began begun; give gave given; send sent sent
show showed shown; sell sold sold; lend lent lent; tell told told; say said said
think thought thought; forget forgot forgotten; keep kept kept; make made made; let let let
become became become; feel felt felt; throw threw thrown; come came come; wake woke woken
go went gone; have had had; do did done
"""
IRREGULAR_VERBS = {  # past, participle
    lemma: (past, participle)
    for line in _IRREGULAR.strip().splitlines()
    for lemma, past, participle in (entry.split() for entry in line.split(";"))
}
