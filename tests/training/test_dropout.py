"""Dropout from random bytes: unbiased, repeatable, with the right gradients, off when not asked."""

import pytest

from chaos_utils.training.dropout import byte_dropout


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.9])
def test_it_drops_the_share_asked_for_and_keeps_the_mean(p, torch):
    torch.manual_seed(0)
    ones = torch.ones(1000, 1003)
    with byte_dropout()():
        found = torch.nn.functional.dropout(ones, p)
    kept = 1 - round(256 * p) / 256
    assert (found != 0).float().mean().item() == pytest.approx(kept, abs=0.002)
    assert found.mean().item() == pytest.approx(1, abs=0.006)
    assert len(found.unique()) == 2


def test_the_seed_decides_it_and_neighbours_are_independent(torch):
    ones = torch.ones(64, 1000)
    with byte_dropout()():
        torch.manual_seed(3)
        first, other = (torch.nn.functional.dropout(ones, 0.5) for _ in range(2))
        torch.manual_seed(3)
        again = torch.nn.Dropout(0.5)(ones)
        assert torch.equal(torch.nn.functional.dropout(ones, 0.5, training=False), ones)
    assert (torch.nn.functional.dropout(ones, 0.5) == 2).any()  # PyTorch's own again
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    kept = (first != 0).float()
    neighbours = torch.stack([kept[:, 1:].flatten(), kept[:, :-1].flatten()])
    assert torch.corrcoef(neighbours)[0, 1].abs() < 0.02


def test_gradients_pass_where_values_passed(torch):
    torch.manual_seed(0)
    values = torch.randn(50, 7, dtype=torch.bfloat16, requires_grad=True)
    with byte_dropout()():
        found = torch.nn.functional.dropout(values, 0.25)
    found.sum().backward()
    expected = torch.where(found == 0, 0.0, 256 / 192)
    assert torch.allclose(values.grad.float(), expected.float(), rtol=1e-2)
