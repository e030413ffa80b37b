import pytest
import torch

from spacy_g2g.layers.packing import MULTIPLE, Packing


def test_real_positions_go_to_their_rows_and_back():
    mask = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    rows = torch.arange(18.0).view(3, 3, 2)
    packing = Packing.of(rows, mask)
    packed = packing.pack(rows)
    assert torch.equal(packed[:6], rows[mask])
    padded = packing.pad(packed)
    assert padded.shape == (3, MULTIPLE, 2)
    assert torch.equal(padded[:, :3][mask], packed[:6])
    assert torch.equal(packing.pack(padded), packed)


@pytest.mark.parametrize(("n", "expected"), [(2, 16), (15, 16), (16, 32), (255, 256), (256, 320)])
def test_positions_are_as_many_as_a_multiple(n: int, expected: int):
    rows = torch.randn(2, n, 3)
    mask = torch.zeros(2, n, dtype=torch.bool)
    mask[1] = True
    mask[0, 0] = True
    packed = Packing.of(rows, mask).pack(rows)
    n_real = int(mask.sum())
    assert len(packed) == expected
    assert torch.equal(packed[:n_real], rows[mask])
    assert (packed[n_real:] == packed[0]).all()


def test_gradients_come_from_the_places_of_positions():
    packing = Packing.of(torch.zeros(2, 3, 2), torch.tensor([[True, False, False], [True, True, False]]))
    packed = torch.randn(3, 2, requires_grad=True)
    padded = packing.pad(packed)
    weights = torch.randn_like(padded)
    (padded * weights).sum().backward()
    assert torch.equal(packed.grad, packing.pack(weights)[:3])


def test_no_mask_packs_everything():
    rows = torch.randn(2, MULTIPLE, 3)
    packing = Packing.of(rows, None)
    assert torch.equal(packing.pack(rows), rows.flatten(0, 1))
    assert packing.mask.all()
