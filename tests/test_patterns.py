"""Regular expressions that read what users and strangers give."""

import re
import time
from typing import Any

import pytest

from spacy_g2g.corpus_job.block import WARNING_CODE
from spacy_g2g.data import input_files
from spacy_g2g.sentences import lines
from spacy_g2g.terminal import common, messages

#: Of ``serve.inception``, which needs an extra.
OTHER_ENCODING = r"""(?i)encoding\s*=\s*(?!\s|["']utf-8["'])"""
#: Characters of a text.
N = 20_000


@pytest.mark.parametrize(
    "act",
    [
        input_files.AMR_LINE.match,
        common.NO_MEMORY.search,
        messages.CONTROLS.search,
        WARNING_CODE.search,
        lines._QUOTE.match,
        lines._BEGINNING.match,
        re.compile(OTHER_ENCODING).search,
        re.compile(r"\s\s+|[\t\r\n]").search,
    ],
    ids=lambda act: act.__self__.pattern[:20],
)
def test_a_pattern_takes_time_in_proportion_to_the_text(act: Any):
    bits = [*' \n\r\t1a-"#`>[(_*=:.|\u2028', "- ", "> ", "~1", "encoding ", "encoding= ", "::", "1."]
    for start in ["", "#", "-", "[", "1", "encoding", "encoding="]:
        for bit in bits:
            for end in ["", "x", "!\n"]:
                begin = time.thread_time()
                act(start + bit * (N // len(bit)) + end)
                assert time.thread_time() - begin < 0.5, (start, bit, end)
