"""English words for aligner and lemmatizer: irregular forms, numbers, pronouns, function words."""

from __future__ import annotations

_IRREGULAR = """
arise arose arisen|awake awoke awoken|be am are is was were been being 'm 're 's|bear bore born borne
beat beaten|become became|begin began begun|bend bent|bet|bind bound|bite bit bitten|bleed bled
blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|burst|buy bought
catch caught|choose chose chosen|cling clung|come came|creep crept|cut|deal dealt|die dying|dig dug
do did done does|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|dwell dwelt
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown flies
forbid forbade forbidden|foresee foresaw foreseen|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone goes|grind ground|grow grew grown
hang hung|have has had 've|hear heard|hide hid hidden|hit|hold held|hurt|keep kept|kneel knelt
know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|let
lie lay lain lying|light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|pay paid
prove proven|put|quit|read|rid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said
see saw seen|seek sought|sell sold|send sent|set|sew sewn|shake shook shaken|shed|shine shone|shoot shot
show shown|shrink shrank shrunk|shut|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
smell smelt|sow sown|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|split
spoil spoilt|spread|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung
stink stank stunk|strike struck stricken|strive strove striven|swear swore sworn|sweep swept|swell swollen
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|tie tied tying
agree agreed|free freed|think thought|throw threw thrown|tread trod trodden|understand understood
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound|write wrote written
bid bade bidden|cast|cost|overtake overtook overtaken|man men|woman women|child children
person people persons|foot feet|tooth teeth|goose geese|mouse mice|louse lice|ox oxen|life lives
wife wives|knife knives|leaf leaves|half halves|self selves|shelf shelves|thief thieves|wolf wolves
calf calves|loaf loaves|hoof hooves|sheep|species|series|phenomenon phenomena|criterion criteria
analysis analyses|hypothesis hypotheses|datum data|bacterium bacteria|nucleus nuclei|locus loci|axis axes
basis bases|good better best|bad worse worst|far farther further farthest furthest|little less least
many more most|much more most|i me my mine myself|he him his himself|she her hers herself|it its itself
we us our ours ourselves|they them their theirs themselves|you your yours yourself yourselves|not n't
will 'll wo|can ca|this these|that those
""".replace("\n", "|")

#: Lemmas of irregular forms, such as ("see",) for "saw". A form that is its own lemma, too, does not list it.
IRREGULAR: dict[str, tuple[str, ...]] = {}
for _entry in filter(None, _IRREGULAR.split("|")):
    _lemma, *_forms = _entry.split()
    for _form in _forms or [_lemma]:
        IRREGULAR[_form] = (*IRREGULAR.get(_form, ()), _lemma)

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = "january february march april may june july august september october november december"

#: Numbers by words, as strings.
NUMBERS: dict[str, str] = {word: str(n) for n, word in enumerate(_UNITS.split())}
NUMBERS.update({word: str(n) for n, word in enumerate(_ORDINALS.split())})
NUMBERS.update({word: str(n) for n, word in enumerate(_MONTHS.split(), start=1)})
NUMBERS.update({word: str(10 * n) for n, word in enumerate(_TENS.split(), start=2)})
NUMBERS.update(
    hundred="100", thousand="1000", million="1000000", billion="1000000000", dozen="12", half="0.5"
)
NUMBERS.update(once="1", twice="2", thrice="3", single="1", a="1", an="1")

#: Words that multiply the number before them.
MULTIPLIERS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}

_PRONOUNS = """
i: i me my mine myself 'm
you: you your yours yourself yourselves thou thee thy
he: he him his himself
she: she her hers herself
it: it its itself
we: we us our ours ourselves let's 's
they: they them their theirs themselves 'em
one: one oneself one's
this: this these
that: that those
"""

_TRIGGERS = """
possible-01: can could may might able possible possibly perhaps maybe ca unable impossible possibility
likely-01: likely probably presumably unlikely
obligate-01: must have need ought has had should got obliged obligation shall
recommend-01: should ought better advise advisable
permit-01: may let allow can
contrast-01: but however yet although though while whereas nevertheless instead on
have-concession-91: although though despite even but yet still nevertheless spite
cause-01: because so why since as for therefore thus then reason due hence how
- : not n't no never none nothing neither nor without nobody nowhere cannot hardly
+ : please
and: and , ; & plus both then
or: or nor either ,
amr-unknown: what who whom whose which where when why how ? whatever
amr-choice: or
truth-value: whether if
have-degree-91: more most than too so as less least enough very better best
have-quant-91: many much more enough too few so several as
more: better less worse further
most: best least
less: fewer
too: too also
person: who people one someone everyone somebody anybody everybody those others
thing: what something things everything that which
someone: somebody anyone anybody one
anyone: anybody someone
something: anything some
anything: something any
everyone: everybody all
everything: all
be-located-at-91: is are was were be there in on at where here 's been live
be-from-91: from
be-temporally-at-91: when at is was
have-03: have has had with 've without of
have-rel-role-91: my his her their our your mother father brother sister friend wife husband friends
have-org-role-91: president king minister chief director head member officer
have-mod-91: is was are
have-purpose-91: for
have-condition-91: if
have-polarity-91: not
have-manner-91: how
have-frequency-91: how
have-instrument-91: with
have-part-91: of with has have
include-91: of among in one including includes
resemble-01: like as
instead-of-91: instead
request-confirmation-91: ? right
rate-entity-91: per every each a by times
temporal-quantity: years year days day hours minutes months seconds week weeks
date-entity: at on o'clock in
ordinal-entity: first second third fourth fifth sixth last
distance-quantity: miles meters feet inches kilometers mile
relative-position: from away between off
multi-sentence: . ; ! ?
multiple: times dozens hundreds thousands
exemplify-01: example such as like e.g. instance
mean-01: mean that i.e.
say-01: " said ' : according
cite-01: [ (
describe-01: ( figure fig shown
figure: fig fig. figs
result-01: so thus therefore
before: ago by until before
after: later after since then
now: nowadays yet already currently
then: when
ever: never
at-all: all
again: re-
still: yet
also: too as
only: just but
very: so really
much: lot
many: lot lots
all: every whole always
some: any a few
any: no none
no: nothing
other: else others another
another: other
certain: some
use-01: with using by via
think-01: opinion believe
opine-01: opinion
equal: same o'clock
differ-02: different other
same-01: as
go-02: gone off leave
come-01: from
look-02: like appear
near-02: nearby close
interrogative: ? whether if
imperative: let please ! must do don't
expressive: ! oh ah
"""


def _words_by_name(text: str) -> dict[str, frozenset[str]]:
    entries = (line.split(":", 1) for line in text.strip().split("\n"))
    return {name.strip(): frozenset(words.split()) for name, words in entries}


#: The words for pronouns as concepts.
PRONOUNS = _words_by_name(_PRONOUNS)
#: Words that a concept or constant may stand for without sharing letters with it.
TRIGGERS = _words_by_name(_TRIGGERS)
#: Prefixes of words that have a negation in them.
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
