"""Texts as people write them: sentences of blocks, from ``g2g_layout`` and a sentencizer.

A line of ``expected`` is a sentence, whose white space is single spaces.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.sentences.finder import THRESHOLD

from ..util import gold_doc, make_nlp, parser_of, read_treebank


class Text(NamedTuple):
    text: str
    expected: str
    lang: str = "en"


TEXTS = {
    "notes": Text(
        """# Trip to Leeds

## Before we leave
Book the hotel. Ask Ann about the cat.
- passport
- charger and the blue
  adapter
- snacks

## On the way
Call Tom
""",
        """# Trip to Leeds
## Before we leave
Book the hotel.
Ask Ann about the cat.
- passport
- charger and the blue adapter
- snacks
## On the way
Call Tom""",
    ),
    "nested list": Text(
        """Shopping:
* fruit
    * apples
    * pears, if they are ripe
* bread
\t+ rye
\t+ white
We pay in cash.""",
        """Shopping:
* fruit
* apples
* pears, if they are ripe
* bread
+ rye
+ white
We pay in cash.""",
    ),
    "steps": Text(
        """How to change the filter

1. Turn the water off.
2. Open the tap. Wait until no water comes.
3) Unscrew the old filter
a. with the key
b. or by hand
(4) Rinse the new one and screw it in.
""",
        """How to change the filter
1. Turn the water off.
2. Open the tap.
Wait until no water comes.
3) Unscrew the old filter
a. with the key
b. or by hand
(4) Rinse the new one and screw it in.""",
    ),
    "table": Text(
        """Prices in May
| Item | Price |
|------|-------|
| Tea  | 2.50  |
| Milk | 1.20  |
All prices are in euros.
They include tax.""",
        """Prices in May
| Item | Price |
|------|-------|
| Tea | 2.50 |
| Milk | 1.20 |
All prices are in euros.
They include tax.""",
    ),
    "quoted mail": Text(
        """That works for me

> > Shall we meet on Monday
> > or is that too early?
> Tuesday is better
> because the room is free

See you then""",
        """That works for me
> > Shall we meet on Monday > > or is that too early?
> Tuesday is better > because the room is free
See you then""",
    ),
    "mail": Text(
        """Hi Maria,

thanks for your help with the form. I sent it
yesterday and hope that it reaches them in
time.

Best wishes
Jon

--\x20
Jon Smith
Room 12""",
        """Hi Maria,
thanks for your help with the form.
I sent it yesterday and hope that it reaches them in time.
Best wishes Jon
--
Jon Smith Room 12""",
    ),
    "chat": Text(
        """[10:02] ann: are you there?
[10:03] tom: yes!
[10:03] ann: the train is late.
[10:07] tom: no problem.""",
        """[10:02] ann: are you there?
[10:03] tom: yes!
[10:03] ann: the train is late.
[10:07] tom: no problem.""",
    ),
    "poem": Text(
        """The rain has washed the garden wall
And left the path to me

I count the apples as they fall
And do not leave the tree

    The end""",
        """The rain has washed the garden wall And left the path to me
I count the apples as they fall And do not leave the tree
The end""",
    ),
    "recipe": Text(
        """PANCAKES

Ingredients
-----------
\u2022 200 g flour
\u2022 2 eggs
\u2022 a pinch of salt

Method
------
1. Mix everything.
2. Fry in butter
   until brown.

Serves two.""",
        """PANCAKES
Ingredients
-----------
\u2022 200 g flour
\u2022 2 eggs
\u2022 a pinch of salt
Method
------
1. Mix everything.
2. Fry in butter until brown.
Serves two.""",
    ),
    "readme": Text(
        """Grep for mice
=============

A tool that finds mice in text.
It is fast.

Install
~~~~~~~

```bash
pip install mice
```

Then run it.
""",
        """Grep for mice
=============
A tool that finds mice in text.
It is fast.
Install
~~~~~~~
```bash
pip install mice
```
Then run it.""",
    ),
    "agenda": Text(
        """Agenda for Friday

i. Welcome
ii. Budget 2026
iii. Open questions
\t- Who writes the minutes?
\t- Where do we meet next
iv. Lunch
""",
        """Agenda for Friday
i. Welcome
ii. Budget 2026
iii. Open questions
- Who writes the minutes?
- Where do we meet next
iv. Lunch""",
    ),
    "questions": Text(
        """Q: Can I bring my dog?
A: Yes. Keep it on a lead.

Q: Is there parking
A: Behind the house""",
        """Q: Can I bring my dog?
A: Yes.
Keep it on a lead.
Q: Is there parking A: Behind the house""",
    ),
    "code fence": Text(
        """Call the function like this:
```python
area(2, 3)
```
It returns six.""",
        """Call the function like this:
```python
area(2, 3)
```
It returns six.""",
    ),
    "rules": Text(
        """The first part ends here
***
The second part is short
* * *
_____
The third has no end""",
        """The first part ends here
***
The second part is short
* * *
_____
The third has no end""",
    ),
    "windows": Text(
        "Minutes\r\n\r\nPresent: Ann and Bo\r\n- Ann takes notes\r\n- Bo left early\r\n\r\n"
        "The room was\r\ncold.\r\n",
        """Minutes
Present: Ann and Bo
- Ann takes notes
- Bo left early
The room was cold.""",
    ),
    "tabs": Text(
        "\tStock\n\n\tPens\t12\n\n\tInk\t3\n\t\n\tWe order on Mondays. Nobody knows why.\n",
        """Stock
Pens 12
Ink 3
We order on Mondays.
Nobody knows why.""",
    ),
    "german": Text(
        """Liebe Nachbarn,

am Samstag feiern wir im Hof und es
kann laut werden. Bitte bringt mit:

\u2013 St\u00fchle
\u2013 Salat oder Kuchen

> Gibt es auch Bier?
Ja!

Viele Gr\u00fc\u00dfe
Jana""",
        """Liebe Nachbarn,
am Samstag feiern wir im Hof und es kann laut werden.
Bitte bringt mit:
\u2013 St\u00fchle
\u2013 Salat oder Kuchen
> Gibt es auch Bier?
Ja!
Viele Gr\u00fc\u00dfe Jana""",
        "de",
    ),
}


@cache
def nlp_of(lang: str) -> Language:
    nlp = spacy.blank(lang)
    nlp.add_pipe("g2g_layout")
    nlp.add_pipe("sentencizer")
    return nlp


@pytest.mark.parametrize("name", TEXTS)
def test_each_block_is_cut_by_itself(name: str):
    text, expected, lang = TEXTS[name]
    doc = nlp_of(lang)(text)
    assert doc.text == text
    assert [" ".join(sent.text.split()) for sent in doc.sents] == expected.splitlines()


@pytest.fixture(scope="module")
def parser() -> Language:
    """A parser that finds sentences, which has learned nothing."""
    nlp = make_nlp(lang="en")
    gold = gold_doc(nlp.vocab, read_treebank()[:2])
    nlp.initialize(lambda: [Example(unparsed_copy(gold, []), gold)])
    return nlp


# Texts whose blocks are sentences.
@pytest.mark.parametrize("name", ["windows", "quoted mail", "nested list", "poem", "rules"])
def test_a_parser_that_finds_no_sentences_cuts_blocks(name: str, parser: Language):
    text, expected, _ = TEXTS[name]
    parser_of(parser).cfg[THRESHOLD] = 1e9
    assert [" ".join(sent.text.split()) for sent in parser(text).sents] == expected.splitlines()


def test_a_parser_that_finds_sentences_everywhere_keeps_marks_together(parser: Language):
    parser_of(parser).cfg[THRESHOLD] = -1e9
    text = "Why???\n1. Tea now\n> Milk\n"
    assert [sent.text.strip() for sent in parser(text).sents] == ["Why", "???", "1. Tea", "now", "> Milk"]
    parser_of(parser).blocks = False
    try:
        (log_odds,) = parser_of(parser).finder.log_odds([parser.make_doc(text)])
    finally:
        parser_of(parser).blocks = True
    # Repeated marks stay together, but no block is known.
    assert np.flatnonzero(np.isinf(log_odds)).tolist() == [2, 3]
