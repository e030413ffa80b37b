"""BERT (Devlin et al. 2019), and ELECTRA (Clark et al. 2020), whose embeddings may be narrower."""

from dataclasses import replace

from ...errors import Errors
from ..encoder_config import EncoderConfig
from .family import ConfigJson, Family, SpecialPieces, common_sizes, expect

BERT_PIECES: SpecialPieces = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
BERT_MODULES = {
    "embeddings.pieces": ["embeddings.word_embeddings"],
    "embeddings.positions": ["embeddings.position_embeddings"],
    "embeddings.segments": ["embeddings.token_type_embeddings"],
    "embeddings.norm": ["embeddings.LayerNorm"],
    "layers.{}.attention.qkv": [
        "encoder.layer.{}.attention.self.query",
        "encoder.layer.{}.attention.self.key",
        "encoder.layer.{}.attention.self.value",
    ],
    "layers.{}.attention.output": ["encoder.layer.{}.attention.output.dense"],
    "layers.{}.attention_norm": ["encoder.layer.{}.attention.output.LayerNorm"],
    "layers.{}.feedforward.hidden": ["encoder.layer.{}.intermediate.dense"],
    "layers.{}.feedforward.output": ["encoder.layer.{}.output.dense"],
    "layers.{}.feedforward_norm": ["encoder.layer.{}.output.LayerNorm"],
}
#: Tokenizers of transformers whose pieces are those of vocab.txt, without "Fast" at the end.
TOKENIZERS = ("BertTokenizer", "ElectraTokenizer", "DistilBertTokenizer", "PreTrainedTokenizer")


def read_bert(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of BERT."""
    expect(settings, position_embedding_type="absolute", is_decoder=False)
    return EncoderConfig(
        **common_sizes(settings),
        n_positions=settings["max_position_embeddings"],
        n_segments=settings.get("type_vocab_size", 2),
        activation=settings["hidden_act"],
        layer_norm_eps=settings.get("layer_norm_eps", 1e-12),
        dropout=settings.get("hidden_dropout_prob", 0.1),
        attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
    )


def read_electra(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of ELECTRA."""
    return replace(read_bert(settings), embedding_width=settings["embedding_size"])


def read_word_pieces(vocabulary: str, settings: ConfigJson) -> str:
    """Return the text of a tokenizer.json with the word pieces of a vocab.txt.

    vocabulary: Content of vocab.txt, a piece on each line.
    settings: Content of tokenizer_config.json. ``do_lower_case``, ``strip_accents`` and
        ``tokenize_chinese_chars`` count.
    Raises ValueError for a tokenizer that splits words in another way (Japanese BERT).
    """
    from tokenizers import BertWordPieceTokenizer

    name = str(settings.get("tokenizer_class") or TOKENIZERS[0])
    if name.removesuffix("Fast") not in TOKENIZERS or "word_tokenizer_type" in settings:
        raise ValueError(Errors.E225.format(found=name, known=", ".join(TOKENIZERS)))
    tokenizer = BertWordPieceTokenizer(
        {piece: i for i, piece in enumerate(vocabulary.split("\n")) if piece},
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        strip_accents=settings.get("strip_accents"),
        lowercase=settings.get("do_lower_case", True),
    )
    return str(tokenizer.to_str())


BERT = Family(read_bert, "bert.", BERT_MODULES, (BERT_PIECES,), read_word_pieces)
ELECTRA = Family(
    read_electra,
    "electra.",
    {**BERT_MODULES, "embeddings.projection": ["embeddings_project"]},
    (BERT_PIECES,),
    read_word_pieces,
)
