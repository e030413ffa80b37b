"""Every architecture and the shipped configs on a GPU: the CPU's results. Skipped where there is no GPU."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
import torch

from spacy_g2g.formats.conllu import read_conllu, write_conllu

from .models.test_sources import make_checkpoint
from .test_second_device import CASES, Trial

CPU, GPU = DEVICES = torch.device("cpu"), torch.device("cuda", 0)
ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu"
#: Configs that train on a treebank, and whether their encoder is a checkpoint.
CONFIGS = {
    "syntr_pretrained": True,
    "test/syntr_tiny": False,
    "rngtr_empty": True,
    "sent_tr": True,
    "state_tr": True,
    "stack_transformer": True,
    "pipeline": True,
    "pipeline_light": True,
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:.*G2G-(W402|W802|W803)"),
]


@pytest.fixture(autouse=True)
def exact_products(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the GPU multiply in float32, as the CPU does. By default, cuDNN's LSTMs round to TF32."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)


def make_trial(case: str, device: torch.device) -> Trial:
    """Return a pipeline whose network is on a device, where it computes in float32."""
    if case.startswith("AMR"):
        pytest.importorskip("simplemma")
    trial = Trial(case)
    trial.shim.precision = "float32"
    trial.shim.network.to(device)
    return trial


# The vectors of a tok2vec would stay on the CPU: the configs of pipelines test those.
@pytest.mark.parametrize("case", [case for case in CASES if "shared" not in case])
def test_parses_are_those_of_the_cpu(case: str):
    cpu, gpu = (make_trial(case, device) for device in DEVICES)
    assert gpu.parse() == cpu.parse()
    assert gpu.shim.network.device == GPU


@pytest.mark.parametrize("case", [case for case in CASES if "shared" not in case])
def test_losses_and_gradients_are_those_of_the_cpu(case: str):
    cpu, gpu = (make_trial(case, device) for device in DEVICES)
    assert gpu.update() == pytest.approx(cpu.update(), rel=1e-4)
    for weight, same in zip(cpu.shim.network.parameters(), gpu.shim.network.parameters(), strict=True):
        assert (weight.grad is None) == (same.grad is None)
        if weight.grad is not None and same.grad is not None:
            difference = torch.linalg.vector_norm(same.grad.cpu() - weight.grad)
            assert difference <= 1e-2 * torch.linalg.vector_norm(weight.grad) + 1e-4
    for _ in range(2):
        cpu.step()
        gpu.step()
        assert gpu.update() == pytest.approx(cpu.update(), rel=1e-2)


def run_spacy(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "spacy", *map(str, arguments)], cwd=ROOT, check=True)


@pytest.mark.parametrize("config", CONFIGS)
def test_what_a_gpu_trains_parses_alike_on_both(config: str, tmp_path: Path):
    treebank, model = tmp_path / "treebank.conllu", tmp_path / "out" / "model-last"
    treebank.write_text("".join(write_conllu(list(read_conllu(SAMPLE))[:20])), encoding="utf8")
    corpus: list[object] = ["--paths.train", treebank, "--paths.dev", treebank]
    if CONFIGS[config]:
        corpus += ["--paths.encoder", make_checkpoint(tmp_path / "bert")]
    steps = ["--training.max_steps", 4, "--training.eval_frequency", 2]
    # Rounding to bfloat16 decides where two scores are nearly equal.
    text = (ROOT / "configs" / f"{config}.cfg").read_text(encoding="utf8")
    exact = re.sub(r"(?m)^precision = .*", 'precision = "float32"', text)
    exact = re.sub(r"(?m)^n_layers = 6", "n_layers = 2", exact)
    (tmp_path / "config.cfg").write_text(exact, encoding="utf8")
    train = ["train", tmp_path / "config.cfg", "--output", tmp_path / "out", "--gpu-id", 0]
    run_spacy(*train, *corpus, *steps, "--nlp.lang", "xx")
    for device in (-1, 0):
        run_spacy("g2g", "parse", model, treebank, tmp_path / f"{device}.conllu", "--gpu-id", device)
    texts = [(tmp_path / f"{device}.conllu").read_text(encoding="utf8") for device in (-1, 0)]
    assert texts[0] == texts[1]
    # A pipeline that a GPU trained needs none.
    assert spacy.load(model)("It was late.").has_annotation("DEP")
