import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Tests compute little, and threads would only wait for each other. The variables must be set before PyTorch
# is imported; processes that tests start inherit them.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

# The first import of matplotlib after its installation lists fonts, for which it starts a process.
import matplotlib.font_manager  # noqa: F401
import pytest
import spacy
import torch
from filelock import FileLock
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from spacy.language import Language
from thinc.api import fix_random_seed

from .pretend_device import Transfers, pretend_device
from .util import DEFAULT_EXAMPLES, graph_examples, make_nlp, taught, treebank_examples

# Inputs of random tests follow from the tests: each run gives the same result. `make long` draws others.
# No limits of time: how long an example takes depends on what else the machine does.
ANY_TIME: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
SAME_INPUTS: dict[str, Any] = {**ANY_TIME, "derandomize": True, "database": None}
settings.register_profile("spacy_g2g", **SAME_INPUTS, max_examples=DEFAULT_EXAMPLES)
settings.register_profile("quick", **SAME_INPUTS, max_examples=30)
settings.register_profile("long", **ANY_TIME, derandomize=False, print_blob=True, max_examples=2_000)
settings.load_profile("spacy_g2g")
# Hypothesis tries constants of the modules that are loaded, which depend on the tests that ran before.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants

#: Fixtures of what several folders test.
pytest_plugins = ["tests.chains"]

#: The quick test that runs now.
quick_test: pytest.Item | None = None
#: What Python says when a process is about to start.
STARTS = {"os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}


def refuse_processes(event: str, args: object) -> None:
    """Fail in a quick test that starts a process."""
    if event in STARTS and quick_test is not None:
        raise AssertionError(f"{quick_test.nodeid} starts a process: it needs the mark `slow`.")


sys.addaudithook(refuse_processes)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put modules of slow tests first, and leave out thorough tests and what other systems than Linux lack.

    Idle workers take the last tests from others: so long modules stay whole, and short tests fill the end.
    """
    if config.getoption("--hypothesis-profile") != "long":
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("thorough")])
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    items.sort(key=is_quick)
    for item in items if sys.platform != "linux" else ():
        if item.get_closest_marker("linux"):
            item.add_marker(pytest.mark.skip(reason="needs Linux"))


def is_quick(item: pytest.Item) -> bool:
    module = item.getparent(pytest.Module)
    return module is None or module.get_closest_marker("slow") is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global quick_test
    quick_test = None if item.get_closest_marker("slow") else item
    try:
        return (yield)
    finally:
        quick_test = None


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup() -> None:
    """Start each fixture from the same random numbers, whatever ran before."""
    fix_random_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Start each test from the same random numbers, whichever fixtures others have made already."""
    fix_random_seed(0)


#: Makes a folder by a name and a function that fills it.
MakeOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Return a function that makes a folder once for all workers of a run.

    The function takes the folder's name and another function, which is given the empty folder and fills it.
    Workers that ask for the folder meanwhile wait. The folder never moves, so files in it may hold its path.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = shared / f"once-{name}", shared / f"once-{name}.done"
        with FileLock(shared / f"once-{name}.lock"):
            if not done.exists():
                folder.mkdir(exist_ok=True)
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def trained_folder(make_once: MakeOnce) -> Path:
    """A saved pipeline with a tiny parser that has learned the ten sentences of ``tests.util`` by heart."""

    def train(folder: Path) -> None:
        taught(make_nlp()).to_disk(folder)

    return make_once("parser", train)


@pytest.fixture(scope="session")
def trained_refiner_folder(make_once: MakeOnce) -> Path:
    """A saved pipeline with a tiny refiner that has learned the ten sentences from empty and other graphs."""

    def train(folder: Path) -> None:
        nlp = make_nlp(factory="rng_refiner", iterations=2)
        examples = [*treebank_examples(nlp), *graph_examples(nlp, "gold"), *graph_examples(nlp, "wrong")]
        taught(nlp, lambda _: examples).to_disk(folder)

    return make_once("refiner", train)


@pytest.fixture
def trained(trained_folder: Path) -> Language:
    """The trained pipeline, loaded for this test alone."""
    return spacy.load(trained_folder)


@pytest.fixture
def transfers() -> Iterator[Transfers]:
    """The second device, and the counts of transfers to and from it."""
    with pretend_device() as counted:
        yield counted


@pytest.fixture(scope="session", autouse=True)
def plain_cpu() -> Iterator[None]:
    """Pretend that the CPU has no bfloat16, so that tests compute alike on all machines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
        yield


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to make whatever asks for the network from then on fail."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network is not to be used")

    def block() -> None:
        monkeypatch.setattr(socket, "socket", refuse)
        monkeypatch.setattr(socket, "create_connection", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    return block
