"""The second device computes, tells devices apart, counts transfers, and leaves nothing behind."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from .pretend_device import DEVICE, Transfers, pretend_device

#: Where Linux lists the threads of this process.
THREADS = Path("/proc/self/task")


@pytest.mark.usefixtures("transfers")
def test_tensors_of_two_devices_do_not_meet():
    own, cpu = torch.ones(2, 3, device=DEVICE), torch.ones(2, 3)
    mixes = (lambda: own + cpu, lambda: cpu @ own.T, lambda: own.copy_(cpu[0]) + cpu, lambda: cpu[own.long()])
    for mix in mixes:
        with pytest.raises(RuntimeError, match="among tensors on lazy"):
            mix()
    assert (own * torch.tensor(2.0)).device == (own * 2).device == DEVICE
    with pytest.raises(RuntimeError):
        own.numpy()


def test_transfers_are_counted(transfers: Transfers):
    own, mask = torch.arange(4.0).to(DEVICE), torch.ones(4, dtype=torch.bool, device=DEVICE)
    for transfer, expected in (
        (lambda: torch.arange(3, device=DEVICE) + own.new_zeros(3), (0, 0)),
        (lambda: own.to(torch.float64).to(DEVICE), (0, 0)),
        (lambda: torch.tensor([1, 2], device=DEVICE), (1, 0)),
        (lambda: own.copy_(torch.ones(4)), (1, 0)),
        (lambda: own[torch.tensor([1, 2])], (1, 0)),
        (lambda: own.cpu(), (0, 1)),
        (lambda: torch.ones(4).copy_(own), (0, 1)),
        (lambda: own.sum().item(), (0, 1)),
        (lambda: bool(own[0] > 1), (0, 1)),
        (lambda: own.nonzero(), (0, 1)),
        (lambda: own[mask], (0, 1)),
        (lambda: own.masked_select(mask), (0, 1)),
        (lambda: torch.equal(own, own), (0, 1)),
    ):
        transfers.take()
        transfer()
        assert transfers.take() == expected


def test_gradients_are_computed_on_the_device(transfers: Transfers):
    module = torch.nn.Linear(3, 2)
    own = torch.nn.Linear(3, 2).to(DEVICE)
    own.load_state_dict(module.state_dict())
    transfers.take()
    for x, layer in ((torch.ones(4, 3), module), (torch.ones(4, 3, device=DEVICE), own)):
        layer(x).relu()[:, :1].sum().backward()
    assert transfers.take() == (0, 0)
    assert own.weight.grad is not None
    torch.testing.assert_close(own.weight.grad.cpu(), module.weight.grad)


def global_state() -> list[Any]:
    """Return what the second device could change for other tests of the process."""
    optimizers: Any = sys.modules[torch.optim.Optimizer.__module__]
    names = [
        torch.autocast,
        torch.tensor,
        torch.inference_mode,
        optimizers._get_fused_kernels_supported_devices,
    ]
    threads = len(list(THREADS.iterdir())) if THREADS.exists() else 0
    accelerator = torch.accelerator.is_available() and torch.accelerator.current_accelerator()
    return [*names, threads, accelerator, torch._C._get_privateuse1_backend_name()]


def test_nothing_is_left_behind_even_after_an_error():
    before = global_state()
    with pretend_device():
        own = torch.ones(2, device=DEVICE, requires_grad=True)
        (own * 2).sum().backward()
    assert global_state() == before
    with pytest.raises(ZeroDivisionError), pretend_device():
        raise ZeroDivisionError
    assert global_state() == before
    for use in (lambda: torch.ones(2, device=DEVICE), lambda: own + 1):
        with pytest.raises(RuntimeError):
            use()
    with pretend_device() as transfers:
        assert (own + 1).sum().item() == 4.0
        assert transfers.take() == (0, 1)
