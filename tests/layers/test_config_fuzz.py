"""Every value of a configuration of transformers is either reproduced or refused, never read as another."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from spacy_g2g.layers.checkpoints.load import load_checkpoint
from spacy_g2g.layers.encoder import GraphEncoder

from ..util import mostly_slow
from .families import FAMILIES, TOKENIZER, dropout_settings, make_model, padded_batch, transformers

#: Values to try of some fields, beside those that a value's type suggests.
VALUES: dict[str, list[Any]] = {
    "activation": ["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish", "tanh", "quick_gelu"],
    "attention_head_size": [4, 6],
    "classifier_activation": ["relu"],
    "conv_groups": [2, 5],
    "conv_kernel_size": [0, 2, 3],
    "embedding_size": [16, 24],
    "head_dim": [4, 8, 16],
    "is_decoder": [True],
    "layer_types": [
        ["full_attention"] * 4,
        ["full_attention", "sliding_attention"] * 2,
        ["sliding_attention", "full_attention"] * 2,
        ["sliding_attention"] * 4,
    ],
    "max_relative_positions": [0, 3, 7, 40],
    "norm_rel_ebd": ["none", "layer_norm|none", ["layer_norm"]],
    "num_key_value_heads": [1, 2, 3, None],
    "pooler_hidden_act": ["relu"],
    "pos_att_type": [None, [], ["p2c"], "c2p", "p2c|c2p", ["p2p"], "p2c, c2p"],
    "position_buckets": [-1, 0, 1, 4, 5, 64],
    "position_embedding_type": ["absolute", "relative_key", "relative_key_query"],
    "rope_parameters": [
        {"rope_type": "linear", "factor": 2.0, "rope_theta": 50.0},
        {"rope_type": "default", "rope_theta": 50.0},
        {
            kind: {"rope_type": "default", "rope_theta": 50.0}
            for kind in ("full_attention", "sliding_attention")
        },
        {"sliding_attention": {"rope_type": "default", "rope_theta": 50.0}},
        {"full_attention": {"rope_type": "linear", "factor": 2.0}},
    ],
    "rope_scaling": [{"rope_type": "linear", "factor": 2.0}, {"rope_type": "default"}],
    "rope_theta": [50.0, 250_000],
    "summary_activation": ["relu"],
}
# Version 4 writes and reads neither.
if transformers.__version__ < "5":
    VALUES |= {"layer_types": [], "rope_parameters": []}
#: Fields that may change an encoder whose class does not name them, and those that DeBERTa-v2 reads so.
UNNAMED = {"head_dim", "is_decoder", "layer_types", "position_embedding_type"}
UNNAMED |= {"rope_parameters", "rope_scaling"}
UNNAMED_OF_DEBERTA = {"attention_head_size", "conv_act", "conv_groups", "conv_kernel_size"}
UNNAMED_OF_DEBERTA |= {"embedding_size", "norm_rel_ebd", "position_buckets", "share_att_key"}
#: RoBERTa and ELECTRA share BERT's table; positions and padding of RoBERTa are other ones.
READ_AS_BERT = {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}
READ_AS_BERT |= {"type_vocab_size", "hidden_act", "layer_norm_eps", "initializer_range"}
READ_AS_BERT |= {"hidden_dropout_prob", "attention_probs_dropout_prob"}
#: XLM-RoBERTa and CamemBERT are read as RoBERTa is.
DISTINCT = [family for family in FAMILIES if family not in ("xlm-roberta", "camembert")]
#: Numbers of layers that show all kinds of layers.
SIZES = {family: {"num_hidden_layers": 2} for family in DISTINCT}
SIZES |= {"distilbert": {"n_layers": 2}, "modernbert": {"num_hidden_layers": 4}}
ERROR = re.compile(r"G2G-E2\d\d")


def alternatives(name: str, value: Any) -> list[Any]:
    """Return values to try for a field."""
    if name in VALUES:
        return VALUES[name]
    if "act" in name.split("_") or "activation" in name:
        return VALUES["activation"]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2]
    if isinstance(value, float):
        return [0.0, value * 3 + 0.25]
    return [1, None]


def fields(family: str) -> dict[str, Any]:
    """Return the fields of a family's configuration, with the values that the tiny models have."""
    config = make_model(family, **SIZES[family]).config
    named = [name for kind in type(config).__mro__ for name in inspect.signature(kind.__init__).parameters]
    names = {*named, *getattr(config, "__dataclass_fields__", ()), *UNNAMED}
    if family == "deberta-v2":
        names |= UNNAMED_OF_DEBERTA
    if family in ("roberta", "electra"):
        names -= READ_AS_BERT
    names -= {"self", "args", "kwargs"}
    return {name: getattr(config, name, None) for name in sorted(names) if not name.startswith("_")}


@pytest.mark.filterwarnings("ignore")  # of transformers, about some values
@pytest.mark.parametrize("family", mostly_slow(DISTINCT, ["modernbert"]))
def test_every_value_of_a_config_is_reproduced_or_refused(family: str, tmp_path: Path) -> None:
    cases = [(name, value) for name, now in fields(family).items() for value in alternatives(name, now)]
    found = {str(case): outcome(family, *case, tmp_path) for case in cases}
    assert {case: kind for case, kind in found.items() if kind not in ("equal", "refused", "invalid")} == {}
    kinds = list(found.values())
    assert kinds.count("equal") > 10
    assert kinds.count("refused") > 0


def outcome(family: str, name: str, value: Any, folder: Path) -> str:
    """Say what becomes of a value: "equal", "different", "refused", or "invalid" for transformers itself."""
    try:
        theirs = make_model(family, **{**SIZES[family], **dropout_settings(family, 0.0), name: value})
        piece_ids, mask = padded_batch(theirs.config.pad_token_id or 0, (17, 12))
        with torch.no_grad():
            expected = theirs(piece_ids, attention_mask=mask.long())[0][mask]
        theirs.config.save_pretrained(folder)
    except Exception:  # of many kinds
        return "invalid"
    # Faster than transformers, which searches for shared weights.
    save_file(theirs.state_dict(), folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(TOKENIZER, encoding="utf8")
    try:
        checkpoint = load_checkpoint(folder)
        encoder = GraphEncoder(checkpoint.config).eval()
        encoder.load_state_dict(checkpoint.weights)
        with torch.no_grad():
            found = encoder(piece_ids, mask)[mask]
    except ValueError as error:
        return "refused" if ERROR.search(str(error)) else f"refused without a code: {error}"
    return "equal" if torch.allclose(found, expected, atol=1e-5, rtol=1e-5, equal_nan=True) else "different"
