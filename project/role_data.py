"""Lay PropBank's roles on a treebank, English-EWT: fetch its skeletons, and write CoNLL-U with roles in MISC.

    python -m project.role_data TREEBANK_FOLDER OUTPUT --propbank SOURCE

SOURCE is the git repository propbank/propbank-release, a URL or a path, or a plain folder of its files. Its
"skeletons" have roles, but no words. A sentence of the treebank has the skeleton of its document and number,
if both have the same number of words. OUTPUT gets the sets with roles, the licenses of both sources, and
unfit.txt, which names each sentence that does not fit. Such sentences are left out.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from wasabi import msg

from spacy_g2g.data.roles import ARGS, COMMENT, PRED
from spacy_g2g.files import files_in
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu
from spacy_g2g.terminal.common import user_errors

from .treebank import commit_of, git, local_path, staging_folder
from .treebank_files import SPLITS, find_license, write_source
from .treebank_settings import read_source
from .up_to_date import is_up_to_date, one_at_a_time, out_of_the_way, record_sources, sources_of

#: Folder of the skeletons in the repository, their suffix, and what follows the name of a document there.
FOLDER, SUFFIX = "data/google/ewt", ".gold_skel"
#: Columns of a skeleton: roleset, and the first of its predicates. A missing roleset is "-".
ROLESET, FIRST_PREDICATE = 7, 8
NAME = "PropBank"
_SENT_ID = re.compile(r"(.+)-(\d+)")


class Skeleton(NamedTuple):
    """Roles of a sentence without its words, which count from 1.

    n_words: Number of words.
    predicates: Word, roleset, and roles with first and last word, of each predicate.
    """

    n_words: int
    predicates: list[tuple[int, str, list[tuple[str, int, int]]]]


def read_spans(cells: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the role, the first and the last word of each span in a column.

    Raises ValueError if its brackets do not match.

    >>> read_spans(["(ARG0*)", "(V*)", "(ARG1*", "*)"])
    [('ARG0', 1, 1), ('V', 2, 2), ('ARG1', 3, 4)]
    """
    unclosed, spans = list[tuple[str, int]](), []
    for number, cell in enumerate(cells, start=1):
        unclosed += [(role, number) for role in re.findall(r"\(([^()*]+)", cell)]
        for _ in range(cell.count(")")):
            if not unclosed:
                raise ValueError("a bracket closes that was not opened")
            spans.append((*unclosed.pop(), number))
    if unclosed:
        raise ValueError("a bracket does not close")
    return spans


def read_skeletons(path: Path) -> list[Skeleton | str]:
    """Return the skeletons of a document, or what is wrong with one."""
    skeletons: list[Skeleton | str] = []
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf8").strip()):
        rows = [line.split() for line in block.splitlines()]
        predicates = [(i, row[ROLESET]) for i, row in enumerate(rows, start=1) if row[ROLESET] != "-"]
        try:
            columns = [*zip(*(row[FIRST_PREDICATE:] for row in rows), strict=True)]
            found = []
            for (word, roleset), cells in zip(predicates, columns, strict=True):
                found.append((word, roleset, [span for span in read_spans(cells) if span[0] != "V"]))
            skeletons.append(Skeleton(len(rows), found))
        except ValueError as error:
            skeletons.append(f"its columns do not match: {error}")
    return skeletons


def with_roles(sentence: ConlluSentence, skeleton: Skeleton) -> ConlluSentence:
    """Return a sentence with the roles of its skeleton in MISC.

    The head of a span is its first word whose head in the tree is outside of the span.
    """
    heads, features = [word.head or 0 for word in sentence.words], dict[int, str]()
    for word, roleset, spans in skeleton.predicates:
        arguments = []
        for role, first, last in spans:
            inside = range(first, last + 1)
            head = next((i for i in inside if heads[i - 1] not in inside), first)
            arguments.append(f"{role}:{head}:{first}-{last}")
        features[word] = f"{PRED}{roleset}" + (f"|{ARGS}{','.join(arguments)}" if arguments else "")
    cells = []
    for number, each in enumerate(sentence.words, start=1):
        cells.append("|".join(filter(None, [each.misc.strip("_"), features.get(number)])) or "_")
    return sentence.replace(misc=cells).with_comments({COMMENT: NAME})


def lay(path: Path, skeletons: dict[str, Path], unfit: list[str]) -> Iterator[ConlluSentence]:
    """Yield the sentences of a set with roles. What does not fit goes to ``unfit``.

    path: CoNLL-U file of the set.
    skeletons: File of each document by its name.
    """
    documents = dict[str, list[Skeleton | str]]()
    for sentence in read_conllu(path):
        id_ = sentence.comment("sent_id") or ""
        match = _SENT_ID.fullmatch(id_)
        document, number = (match[1], int(match[2])) if match else (id_, 0)
        if document in skeletons and document not in documents:
            documents[document] = read_skeletons(skeletons[document])
        found = documents.get(document, [])
        skeleton = found[number - 1] if 0 < number <= len(found) else "PropBank has no such sentence"
        n = len(sentence.words)
        if isinstance(skeleton, str):
            unfit.append(f"{id_}: {skeleton}")
        elif skeleton.n_words != n:
            unfit.append(f"{id_}: {n} words in the treebank, {skeleton.n_words} in PropBank")
        else:
            yield with_roles(sentence, skeleton)


def fetch(source: str, clone: Path) -> tuple[Path, str]:
    """Return a folder with PropBank's files, and its commit; "" for a plain folder.

    Raises SystemExit if it can't be cloned.
    """
    path = local_path(source)
    if path is not None and (path / FOLDER).is_dir():
        return path, ""
    root = path.resolve().as_uri() if path else source
    options = ("--quiet", "--depth=1", "--filter=blob:none", "--sparse", "--")
    done = git("clone", *options, root, str(clone))
    if not done.returncode:
        done = git("-C", str(clone), "sparse-checkout", "set", FOLDER)
    if done.returncode or not (clone / FOLDER).is_dir():
        raise SystemExit(
            f"Can't clone PropBank from {root}: expected the git repository propbank-release with {FOLDER}.\n"
            f"{done.stderr.strip()}"
        )
    return clone, commit_of(clone)


def make_sets(treebank: Path, *, output: Path, propbank: str) -> None:
    """Make a folder of the sets with roles: all of it or nothing.

    treebank: Folder of the treebank, which project/treebank.py made.
    output: Folder to make.
    propbank: URL or path of PropBank.
    Raises SystemExit if no sentence of a set fits.
    """
    sets = {split: treebank / f"{split}.conllu" for split in SPLITS}
    sets = {split: path for split, path in sets.items() if path.exists()}
    inputs = sources_of(sets, propbank=propbank)
    if is_up_to_date(output, inputs):
        return
    with staging_folder(output) as temporary:
        staged = temporary / "staged"
        staged.mkdir()
        folder, commit = fetch(propbank, temporary / "clone")
        files = files_in(folder / FOLDER, f"*{SUFFIX}")
        skeletons = {
            f"{file.relative_to(folder / FOLDER).parts[0]}-{file.name.partition('.xml')[0]}": file
            for file in files
        }
        unfit = list[str]()
        for split, path in sets.items():
            n_before, sentences = len(unfit), list(lay(path, skeletons, unfit))
            if not sentences:
                raise SystemExit(
                    f"No sentence of {path} fits PropBank: expected English-EWT. {unfit[n_before]}"
                )
            text = "".join(write_conllu(sentences))
            (staged / path.name).write_text(text, encoding="utf8", newline="")
            msg.good(f"{split}: {len(sentences)} sentences with roles, {len(unfit) - n_before} do not fit")
        (staged / "unfit.txt").write_text("".join(f"{line}\n" for line in unfit), encoding="utf8")
        _copy_licenses(treebank, folder, staged)
        own = read_source(treebank)
        terms = find_license(folder)
        of_roles = {"treebank": NAME, "license": terms, "origin": propbank, "commit": commit}
        both = " and ".join(dict.fromkeys([own.get("license", "unknown"), terms]))
        write_source(staged, **{**own, "license": both, "annotations": [own, of_roles]})
        with out_of_the_way(output):
            staged.rename(output)
    record_sources(output, inputs)


def _copy_licenses(treebank: Path, propbank: Path, target: Path) -> None:
    """Copy the licenses of both sources, and the README of the treebank."""
    for path in files_in(treebank, "LICENSE*", deep=False) + files_in(treebank, "README*", deep=False):
        shutil.copyfile(path, target / path.name)
    for path in files_in(propbank, "LICENSE*", deep=False):
        shutil.copyfile(path, target / f"{path.name}-{NAME}")


def main(arguments: list[str] | None = None) -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("treebank", type=Path, help="folder of the treebank")
    cli.add_argument("output", type=Path, help="folder for the sets with roles")
    cli.add_argument("--propbank", required=True, help="URL or path of propbank-release")
    args = cli.parse_args(arguments)
    with user_errors(), one_at_a_time(args.output):
        make_sets(args.treebank, output=args.output, propbank=args.propbank)


if __name__ == "__main__":
    main()
