"""Vocabularies of BERT (vocab.txt), written as tokenizer.json."""

import json
from collections.abc import Mapping
from typing import Any

from ..errors import Errors

#: Tokenizers of Hugging Face transformers whose vocabularies these are, without "Fast" at the end.
CLASSES = ("BertTokenizer", "ElectraTokenizer", "DistilBertTokenizer", "PreTrainedTokenizer")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def to_tokenizer(vocabulary: str, settings: Mapping[str, Any]) -> str:
    """Return the text of a tokenizer.json with the word pieces of a vocabulary.

    vocabulary: Content of vocab.txt, a piece on each line.
    settings: Content of tokenizer_config.json. ``do_lower_case``, ``strip_accents`` and
        ``tokenize_chinese_chars`` count.
    Raises ValueError for a tokenizer that finds words in another way (Japanese BERT).
    """
    found = str(settings.get("tokenizer_class") or CLASSES[0])
    if found.removesuffix("Fast") not in CLASSES or "word_tokenizer_type" in settings:
        raise ValueError(Errors.E225.format(found=found, known=", ".join(CLASSES)))
    ids = {piece: i for i, piece in enumerate(vocabulary.split("\n")) if piece}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    tokenizer = {
        "version": "1.0",
        "added_tokens": [
            {"id": ids[piece], "content": piece, **flags, "special": True}
            for piece in SPECIAL
            if piece in ids
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": settings.get("tokenize_chinese_chars", True),
            "strip_accents": settings.get("strip_accents"),
            "lowercase": settings.get("do_lower_case", True),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "vocab": ids,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }
    return json.dumps(tokenizer, ensure_ascii=False)
