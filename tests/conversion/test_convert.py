import pytest
from spacy.tokens import DocBin

from spacy_g2g.conversion.convert import convert
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.formats.conllu import write_conllu

from ..chains import g2g, read_bin
from ..formats.samples import SAMPLE, row


def test_output_has_all_of_the_file_and_its_words_are_counted(sample, tmp_path):
    counts = convert([sample], tmp_path / "out.spacy", n_sents=2)
    assert (counts.docs, counts.sentences, counts.words, counts.multiword_tokens) == (2, 3, 13, 2)
    assert counts.labels["root"] == 3
    assert len(counts.labels) == 9
    convert([sample], tmp_path / "out.spacy")
    text = "".join(write_conllu(s for doc in read_bin(tmp_path / "out.spacy") for s in doc_to_sentences(doc)))
    assert text == SAMPLE


def test_multiword_tokens_are_merged_on_request(sample, tmp_path):
    output = tmp_path / "out.spacy"
    assert g2g("convert", "-T", sample, output).exit_code == 0
    doc = read_bin(output)[0]
    assert [token.text for token in doc][:3] == ["Vámonos", "al", "mar"]
    assert doc[1].head.text == "mar"


def test_files_and_folders_are_read_in_order(sample, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.conllu").write_text(row("1", name, deprel="root"))
    convert([folder, sample], tmp_path / "new" / "out.spacy")
    first_words = [doc[0].text for doc in read_bin(tmp_path / "new" / "out.spacy")]
    assert first_words == ["a", "b", "Vámo", "Sí", "Duerme"]


def test_bad_input_leaves_the_output_as_it_was(sample, tmp_path):
    folder = tmp_path / "out"
    convert([sample], folder / "out.spacy")
    before = (folder / "out.spacy").read_bytes()
    bad = tmp_path / "bad.conllu"
    bad.write_text(SAMPLE + row("1", head="5"))
    with pytest.raises(ValueError, match=r"E304.*bad\.conllu, line 28"):
        convert([sample, bad], folder / "out.spacy")
    assert (folder / "out.spacy").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["out.spacy"]


def test_failed_write_leaves_no_file(sample, tmp_path, monkeypatch):
    def fail(self, path):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(DocBin, "to_disk", fail)
    with pytest.raises(OSError, match="disk full"):
        convert([sample], tmp_path / "out" / "out.spacy")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("names", "output", "error", "text"),
    [
        (["sample.conllu"], "out.json", ValueError, r"E903.*'\.json'.*\.spacy"),
        (["in.txt"], "out.spacy", ValueError, r"E903.*'\.txt'.*\.conllu"),
        (["nowhere"], "out.spacy", FileNotFoundError, "E906.*nowhere"),
        (["empty"], "out.spacy", FileNotFoundError, r"E906.*empty.\*\.conllu"),
        (["sample.conllu", "."], "out.spacy", ValueError, r"E927.*sample\.conllu"),
    ],
)
@pytest.mark.usefixtures("sample")
def test_wrong_paths_are_errors(tmp_path, names, output, error, text):
    (tmp_path / "in.txt").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=text):
        convert([tmp_path / name for name in names], tmp_path / output)


def test_command_converts_and_prints_counts(sample, tmp_path):
    result = g2g("convert", sample, tmp_path / "out.spacy", "--n-sents", "3")
    assert result.exit_code == 0, result.output
    assert "3 sentences, 13 words, 2 multiword tokens" in result.output
    assert len(read_bin(tmp_path / "out.spacy")) == 1


def test_command_prints_errors_without_traceback(tmp_path):
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\tw\n")
    result = g2g("convert", bad, tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert "E301" in result.output
    assert isinstance(result.exception, SystemExit)


def test_conllx_is_converted_by_its_suffix(tmp_path):
    path = tmp_path / "in.conll"
    path.write_text("1\tIt\t_\tPRP\tPRP\t_\t2\tnsubj\n2\tworks\t_\tVBZ\tVBZ\t_\t0\troot\n")
    convert([path], tmp_path / "out.spacy")
    (doc,) = read_bin(tmp_path / "out.spacy")
    rows = [(t.text, t.tag_, t.dep_, t.head.text) for t in doc]
    assert rows == [("It", "PRP", "nsubj", "works"), ("works", "VBZ", "root", "works")]


def tabs(cells: str) -> str:
    """Cells between tabs."""
    return "\t".join(cells.split())


ROOTS = row("1", "Sie", "2", "subj") + row("2", "lacht", "0", "root") + row("3", "und", "0", "ROOT")
ROOTS += row("4", "lebt", "0", "conj") + row("5", ".", "0", "root").replace("_\t_", "_\tPUNCT", 1)


def test_several_roots_are_an_error_that_names_the_option(tmp_path):
    source, output = tmp_path / "in.conllu", tmp_path / "out.spacy"
    source.write_text(ROOTS)
    with pytest.raises(ValueError, match=r"E306.*\[2, 3, 4, 5\].*--attach-roots"):
        convert([source], output)
    assert g2g("convert", "--attach-roots", source, output).exit_code == 0
    arcs = [(token.head.text, token.dep_) for token in read_bin(output)[0]][2:]
    assert arcs == [("lacht", "parataxis"), ("lacht", "conj"), ("lacht", "punct")]


def test_attached_roots_leave_trees_as_they_are_and_cycles_an_error(sample, tmp_path):
    convert([sample], tmp_path / "plain.spacy")
    convert([sample], tmp_path / "out.spacy", attach_roots=True)
    assert (tmp_path / "plain.spacy").read_bytes() == (tmp_path / "out.spacy").read_bytes()
    source = tmp_path / "cycle.conllu"
    source.write_text(ROOTS.replace("2\tlacht\t_\t_\t_\t_\t0", "2\tlacht\t_\t_\t_\t_\t1"))
    with pytest.raises(ValueError, match="E307"):
        convert([source], tmp_path / "out.spacy", attach_roots=True)


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("plus.conllu", "# global.columns = ID FORM\n" + tabs("1 a _ _ _ _ 0 root _ _ *"), "CoNLL-U Plus"),
        ("nine.conll", tabs("1 a a a N N _ _ 0 0 root root _ _"), "CoNLL-2009"),
        ("x.conllu", tabs("1 a _ _ _ _ 0 root"), "CoNLL-X.*suffix .conllx"),
        ("spaces.conllu", "1 a _ _ _ _ 0 root _ _", "spaces in place of tabs"),
        ("spaces.conll", "1 a _ _ _ _ 0 root", "spaces in place of tabs"),
        ("end.conllu", tabs("1 a _ _ _ _ 0 root _ _") + "\t", "tab at the end"),
    ],
)
def test_a_file_of_another_format_is_an_error_that_names_it(tmp_path, name, text, hint):
    (tmp_path / name).write_text(text + "\n\n")
    with pytest.raises(ValueError, match=rf"(?s)E3(01|10).*{hint}"):
        convert([tmp_path / name], tmp_path / "out.spacy")
