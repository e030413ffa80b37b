"""RoBERTa (Liu et al. 2019), XLM-R and CamemBERT: BERT with positions that begin after the padding id."""

from dataclasses import replace

from ..encoder_config import EncoderConfig
from .bert import BERT_MODULES, BERT_PIECES, read_bert
from .family import ConfigJson, Family, SpecialPieces

ROBERTA_PIECES: SpecialPieces = ("<s>", "</s>", "<pad>", "<unk>")


def read_roberta(settings: ConfigJson) -> EncoderConfig:
    """Return the configuration of RoBERTa."""
    config, offset = read_bert(settings), settings.get("pad_token_id", 1) + 1
    return replace(config, position_offset=offset, n_positions=config.n_positions - offset)


ROBERTA = Family(read_roberta, "roberta.", BERT_MODULES, (ROBERTA_PIECES, BERT_PIECES))
CAMEMBERT = replace(
    ROBERTA, first_pieces=("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), n_dropped=1
)
