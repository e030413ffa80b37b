"""CoNLL-U text for tests."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

SHARED = Path(__file__).parents[3] / "shared" / "treebanks"

#: Comments, a multiword token, an empty node, a form with a space, enhanced dependencies and MISC.
SAMPLE = """\
# newdoc id = d1
# sent_id = s1
# text = Vámonos al mar, 10 000 veces.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tGloss=to.the
3\ta\ta\tADP\tE\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\tD\tDefinite=Def\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tN\tGender=Masc\t1\tobl:arg\t1:obl\tSpaceAfter=No|Gloss=sea
6\t,\t,\tPUNCT\tF\t_\t8\tpunct\t8:punct\t_
7\t10 000\t10000\tNUM\tZ\t_\t8\tnummod\t8:nummod\t_
8\tveces\tvez\tNOUN\tN\t_\t1\tobl\t1:obl|8.1:dep\tSpaceAfter=No
8.1\tnada\t_\t_\t_\t_\t_\t_\t1:dep\t_
9\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_

# sent_id = s2
# text = Sí
1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No

# newpar
# sent_id = s3
# text = Duerme _ .
1\tDuerme\tdormir\tVERB\tV\t_\t0\troot\t_\t_
2\t_\t_\tSYM\t_\t_\t1\tdep\t_\t_
3\t.\t.\tPUNCT\tF\t_\t1\tpunct\t_\t_

"""


def row(id_: str, form: str = "w", head: str = "0", deprel: str = "dep", columns: int = 10) -> str:
    """A row with the given ID, head and relation."""
    cells = [id_, form, "_", "_", "_", "_", head, deprel, "_", "_", "_"]
    return "\t".join(cells[:columns]) + "\n"


def read(text: str = SAMPLE, **settings: Any) -> list[ConlluSentence]:
    """The sentences of a text, whose line ends stay as they are."""
    return list(read_conllu(io.StringIO(text, newline="\n"), **settings))


def with_tree(sentence: ConlluSentence, heads: Sequence[int], deprels: Sequence[str]) -> ConlluSentence:
    """Return a copy with other heads (0 for the root, otherwise IDs counted from 1) and relations."""
    return sentence.replace(head=[str(head) for head in heads], deprel=deprels)


def shared_treebank(name: str) -> Path:
    """A real treebank file beside the repository; skips the test where it is absent."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"needs the treebank {name} in ../shared")
    return path
