import torch

from spacy_g2g.layers.packing import MULTIPLE, Packing


def test_real_positions_go_to_their_rows_and_back():
    mask = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    rows = torch.arange(18.0).view(3, 3, 2)
    packing = Packing.of(rows, mask)
    packed = packing.pack(rows)
    assert torch.equal(packed, rows[mask])
    padded = packing.pad(packed)
    assert padded.shape == (3, MULTIPLE, 2)
    assert torch.equal(padded[:, :3], rows * mask[..., None])
    assert not padded[:, 3:].any()
    assert torch.equal(packing.pack(padded), packed)


def test_no_mask_packs_everything():
    rows = torch.randn(2, MULTIPLE, 3)
    packing = Packing.of(rows, None)
    assert torch.equal(packing.pack(rows), rows.flatten(0, 1))
    assert packing.mask.all()
