"""Measure time and memory of a pipeline, in a process of its own.

    python -m project.timing PIPELINE FILE [--disable NAME ...]

FILE is a treebank (.conllu), or a text whose paragraphs are between blank lines. The output is JSON. All
times are CPU seconds of one thread, beside which the machine may do other work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

#: Number of words of the sentences that are parsed one by one, the number of these, and of calls for each.
N_WORDS, N_SENTENCES, CALLS = 21, 20, 3
#: Number of short texts, and of words in documents, that are parsed in batches; number of runs, of which the
#: best counts.
N_SHORT, N_DOCUMENT_WORDS, RUNS = 200, 2000, 2
#: File of what was measured, among the scores of a pipeline.
SPEED_FILE = "speed.json"
#: One thread for each library that multiplies matrices.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(pipeline: str | Path, file: Path, disable: Sequence[str] = ()) -> dict[str, float]:
    """Return times, memory and size of a pipeline, measured in a new process.

    pipeline: Folder or name of a package.
    file: File with texts.
    disable: Components to leave out.
    """
    command = [sys.executable, "-m", "project.timing", str(pipeline), str(file)]
    command += ["--disable", *disable] if disable else []
    done = subprocess.run(command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def read_texts(file: Path) -> tuple[list[str], list[str]]:
    """Return the sentences and the documents of a file. Each line of a text counts as a sentence."""
    from spacy_g2g.formats.conllu import read_conllu
    from spacy_g2g.formats.paragraphs import read_paragraphs

    if file.suffix != ".conllu":
        documents = [block for block in file.read_text(encoding="utf8").split("\n\n") if block.strip()]
        lines = chain.from_iterable(map(str.splitlines, documents))
        return [line for line in lines if line.strip()], documents
    sentences = list(read_conllu(file))
    texts = chain.from_iterable(read_paragraphs([sentence]) for sentence in sentences)
    return [*texts], [*read_paragraphs(sentences)]


def seconds(run: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def peak_memory() -> float:
    """Return the most memory that this process has had, in MB; 0 where Python can't tell, as on Windows."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def count_words(doc: Doc) -> int:
    """Return the number of a Doc's words, which are its tokens other than white space."""
    return sum(not token.is_space for token in doc)


def words_a_second(nlp: Language, texts: Sequence[str]) -> float:
    """Return how many words a pipeline finds in a second, in the best of some runs over texts in batches."""
    docs: list[Doc] = []

    def run() -> None:
        docs[:] = nlp.pipe(texts)

    best = min(seconds(run) for _ in range(RUNS))
    return sum(map(count_words, docs)) / best


def times_of(pipeline: str, file: Path, disable: Sequence[str]) -> dict[str, float]:
    """Return what ``measure`` returns, measured in this process."""
    import_s = seconds(lambda: __import__("spacy"))
    import spacy

    sentences, documents = read_texts(file)
    start = time.process_time()
    nlp = spacy.load(pipeline, exclude=disable)
    load_s = time.process_time() - start
    sizes = {text: count_words(nlp.make_doc(text)) for text in sentences}
    single = sorted(sentences, key=lambda text: abs(sizes[text] - N_WORDS))[:N_SENTENCES]
    first_s = seconds(lambda: nlp(single[0]))
    n_words = sum(count_words(nlp(text)) for text in single)
    calls = [seconds(partial(nlp, text)) for text in single * CALLS]
    cuts = quantiles(calls, n=20) if len(calls) > 1 else calls * 19
    n_bytes = sum(path.stat().st_size for path in nlp.path.rglob("*") if path.is_file())
    found = {
        "import_s": import_s,
        "load_s": load_s,
        "first_ms": 1e3 * first_s,
        "p50_ms": 1e3 * cuts[9],
        "p95_ms": 1e3 * cuts[18],
        "memory_mb": peak_memory(),
        "disk_mb": n_bytes / 1e6,
        "sentence_words": n_words / len(single),
    }
    long: list[str] = []
    n_long = 0
    while documents and n_long < N_DOCUMENT_WORDS:
        long.append(documents.pop(0))
        n_long += count_words(nlp.make_doc(long[-1]))
    found["short_wps"] = words_a_second(nlp, sentences[:N_SHORT])
    found["document_wps"] = words_a_second(nlp, long)
    return found


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="folder of a pipeline, or name of a package")
    cli.add_argument("file", type=Path, help="treebank (.conllu) or text")
    cli.add_argument("--disable", nargs="*", default=[], help="components to leave out")
    args = cli.parse_args()
    print(json.dumps(times_of(args.pipeline, args.file, args.disable)))


if __name__ == "__main__":
    main()
