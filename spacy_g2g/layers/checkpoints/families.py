"""The table of the families of checkpoints."""

from itertools import chain

from .bert import BERT, ELECTRA
from .deberta import DEBERTA
from .distilbert import DISTILBERT
from .eurobert import EUROBERT
from .modernbert import MODERNBERT
from .roberta import CAMEMBERT, ROBERTA

#: Families by ``model_type`` of config.json.
FAMILIES = {
    "bert": BERT,
    "distilbert": DISTILBERT,
    "electra": ELECTRA,
    "deberta-v2": DEBERTA,
    "modernbert": MODERNBERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": CAMEMBERT,
    "eurobert": EUROBERT,
}
#: Special pieces of all families. The first set that a vocabulary has counts: in Gemma's vocabulary, "<s>" is
#: an ordinary piece.
_PIECES_BY_FAMILY = (family.special_pieces for family in FAMILIES.values())
SPECIAL_PIECES = tuple(dict.fromkeys(chain.from_iterable(_PIECES_BY_FAMILY)))
