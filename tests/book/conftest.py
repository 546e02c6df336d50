"""A built book that a test may change."""

import pytest
from helpers.checkout import copy_built


@pytest.fixture
def checkout(small_checkout, tmp_path):
    """A copy of a built checkout, to be changed."""
    return copy_built(small_checkout, tmp_path / "book")
