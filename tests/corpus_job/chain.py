"""A parser that needs no network, and dies of certain words. Tests give this file to ``--code``.

The environment variable SECONDS_OF_DOCUMENT makes it sleep, so that processes can be killed at work.
"""

import os
import signal
import time

from spacy.language import Language
from spacy.tokens import Doc


@Language.component(
    "test_chain", assigns=["token.head", "token.dep", "token.tag", "token.is_sent_start", "doc.sents"]
)
def chain(doc: Doc) -> Doc:
    """Hang each word on the one before it; the first word of a sentence is its root."""
    die_of(doc.text)
    time.sleep(float(os.environ.get("SECONDS_OF_DOCUMENT", "0")))
    starts = [i == 0 or doc[i - 1].text == "." for i in range(len(doc))]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.text[-1].upper() for token in doc],
        heads=[i if start else i - 1 for i, start in enumerate(starts)],
        deps=["ROOT" if start else "dep" for start in starts],
    )


def die_of(text: str) -> None:
    if "RAISE" in text:
        raise ValueError("a word that raises")
    if "EXIT" in text:
        os._exit(3)
    if "KILL" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "CRASH" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "HANG" in text:
        time.sleep(600)
