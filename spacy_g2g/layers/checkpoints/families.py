"""The table of the families of checkpoints."""

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
#: Special pieces of all families. The first that a vocabulary has count: Gemma's has "<s>" as an ordinary
#: piece.
SPECIAL_PIECES = tuple(dict.fromkeys(row for family in FAMILIES.values() for row in family.special_pieces))
