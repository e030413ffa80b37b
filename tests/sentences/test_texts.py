"""Texts as people write them: sentences of blocks, from ``g2g_layout`` and a sentencizer."""

from functools import cache

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.sentences.finder import THRESHOLD

from ..util import gold_doc, make_nlp, parser_of, read_treebank

#: Texts by name. "¦" is a mark: between sentences of a line, and before a line that continues a sentence.
TEXTS = {
    "notes": """# Trip to Leeds

## Before we leave
Book the hotel. ¦ Ask Ann about the cat.
- passport
- charger and the blue
¦  adapter
- snacks

## On the way
Call Tom
""",
    "nested list": """Shopping:
* fruit
    * apples
    * pears, if they are ripe
* bread
\t+ rye
\t+ white
We pay in cash.""",
    "steps": """How to change the filter

1. Turn the water off.
2. Open the tap. ¦ Wait until no water comes.
3) Unscrew the old filter
a. with the key
b. or by hand
(4) Rinse the new one and screw it in.
""",
    "table": """Prices in May
| Item | Price |
|------|-------|
| Tea  | 2.50  |
| Milk | 1.20  |
All prices are in euros.
They include tax.""",
    "quoted mail": """That works for me

> > Shall we meet on Monday
¦> > or is that too early?
> Tuesday is better
¦> because the room is free

See you then""",
    "mail": """Hi Maria,

thanks for your help with the form. ¦ I sent it
¦yesterday and hope that it reaches them in
¦time.

Best wishes
¦Jon

--\x20
Jon Smith
¦Room 12""",
    "chat": """[10:02] ann: are you there?
[10:03] tom: yes!
[10:03] ann: the train is late.
[10:07] tom: no problem.""",
    "poem": """The rain has washed the garden wall
¦And left the path to me

I count the apples as they fall
¦And do not leave the tree

    The end""",
    "recipe": """PANCAKES

Ingredients
-----------
\u2022 200 g flour
\u2022 2 eggs
\u2022 a pinch of salt

Method
------
1. Mix everything.
2. Fry in butter
¦   until brown.

Serves two.""",
    "readme": """Grep for mice
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
    "agenda": """Agenda for Friday

i. Welcome
ii. Budget 2026
iii. Open questions
\t- Who writes the minutes?
\t- Where do we meet next
iv. Lunch
""",
    "questions": """Q: Can I bring my dog?
A: Yes. ¦ Keep it on a lead.

Q: Is there parking
A: Behind the house""",
    "names": """ann: hey, are you coming
bob: yes! ¦ be there at 8
<eve> great
राम: नमस्ते
דנה: שלום
小明\uff1a你好
Name: Ann Lee
Marital status : single

This sentence of more than one line has the words of a label, which is a word before a
¦colon: it goes on. ¦ No block starts here.""",
    "columns": """Name | Role | Start
--- | --- | ---
Ann Lee | editor | 2019
Bo Ray | printer | 2021

Pens\t12
Ink\t3""",
    "code fence": """Call the function like this:
```python
area(2, 3)
```
It returns six.""",
    "rules": """The first part ends here
***
The second part is short
* * *
_____
The third has no end""",
    "windows": "Minutes\r\n\r\nPresent: Ann and Bo\r\n- Ann takes notes\r\n- Bo left early\r\n\r\n"
    "The room was\r\n¦cold.\r\n",
    "tabs": "\tStock\n\n\tPens\t12\n\n\tInk\t3\n\t\n\tWe order on Mondays. ¦ Nobody knows why.\n",
    "german": """Liebe Nachbarn,

am Samstag feiern wir im Hof und es
¦kann laut werden. ¦ Bitte bringt mit:

\u2013 St\u00fchle
\u2013 Salat oder Kuchen

> Gibt es auch Bier?
Ja!

Viele Gr\u00fc\u00dfe
¦Jana""",
}


def read(name: str) -> tuple[str, list[str]]:
    """The text without marks, and its sentences with single spaces."""
    sentences: list[str] = []
    for line in TEXTS[name].splitlines():
        for part in line.split(" ¦ "):
            words = " ".join(part.removeprefix("¦").split())
            if part.startswith("¦"):
                sentences[-1] += f" {words}"
            elif words:
                sentences.append(words)
    return TEXTS[name].replace(" ¦ ", " ").replace("¦", ""), sentences


@cache
def nlp_of(lang: str) -> Language:
    nlp = spacy.blank(lang)
    nlp.add_pipe("g2g_layout")
    nlp.add_pipe("sentencizer")
    return nlp


def check_sentences(name: str, nlp: Language) -> None:
    text, expected = read(name)
    doc = nlp(text)
    assert doc.text == text
    assert [" ".join(sent.text.split()) for sent in doc.sents] == expected


@pytest.mark.parametrize("name", TEXTS)
def test_each_block_is_cut_by_itself(name: str):
    check_sentences(name, nlp_of("de" if name == "german" else "en"))


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
    parser_of(parser).cfg[THRESHOLD] = 1e9
    check_sentences(name, parser)


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
