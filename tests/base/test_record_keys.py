"""Digests of what was parsed, and how they are kept."""

from dataclasses import dataclass

import numpy as np
import pytest

from chaos_utils.base.record_keys import cached_digest, digest_of_parsed


@dataclass
class Parsed:
    counts: np.ndarray
    more: object = None


def of(counts, more=None):
    return digest_of_parsed(Parsed(np.array(counts), more))


def test_every_part_of_what_was_parsed_counts():
    parts = [
        None, 0, 1.5, True, "0", (), ("a", "bc"), ("ab", "c"), (("a",), "b"), ("a", ("b",)),
        {"a": "b"}, {"b": "a"}, {"a": None}, np.array([1]), np.array([1.0]), np.array([[1]]),
    ]  # fmt: skip
    found = [of([1, 2], part) for part in parts]
    found += [of([2, 1]), of([[1, 2]]), of([1, 2, 0])]
    assert len(set(found)) == len(found)
    assert of([1, 2], ["a"]) == of([1, 2], ("a",))


def test_the_last_digits_of_another_processor_do_not_count():
    assert of([0.1, 1 / 3]) == of([0.1 + 1e-16, 1 / 3 + 1e-15])
    assert of([0.1]) != of([0.1001])
    assert of([0.0]) != of([1e-12])


def test_what_no_digest_would_hold_is_an_error():
    for value in (object(), {1, 2}, [object()]):
        with pytest.raises(TypeError, match="no digest holds all of a"):
            of([1], value)


def test_a_digest_is_computed_once_for_what_it_is_made_from(tmp_path):
    computed = []

    def compute():
        computed.append(1)
        return f"{len(computed):016x}"

    assert [cached_digest(tmp_path, ["a"], compute) for _ in range(2)] == [f"{1:016x}"] * 2
    assert cached_digest(tmp_path, ["b"], compute) == f"{2:016x}"
    for path in tmp_path.iterdir():
        path.write_text("cut o")
    assert cached_digest(tmp_path, ["a"], compute) == f"{3:016x}"
    (tmp_path / "file").write_text("")
    assert cached_digest(tmp_path / "file", ["a"], compute) == f"{4:016x}"  # no place to keep it
