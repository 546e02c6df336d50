import json
import zlib
from base64 import b64decode

import numpy as np
import pytest

from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance, total_variation
from chaos_utils.publish import explorer, scripts
from chaos_utils.publish.citations import Book
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import load_systems, synthetic_systems


def read(script, name):
    """Return what a script sets, as a browser would read it."""
    notice, _, rest = script.partition("\n")
    assert notice == "/* A notice. */"
    return json.loads(zlib.decompress(b64decode(rest.removeprefix(f'window.{name} = "'))))


def test_columns_hold_every_item_s_votes_and_the_project_s_measures(sample):
    for votes in sample:
        systems = synthetic_systems(votes)
        made = explorer.columns(votes, systems)
        assert made["uids"] == sorted(votes.uids)
        rows = [votes.index(uid) for uid in made["uids"]]
        assert np.array_equal(np.transpose(made["votes"]), votes.counts[rows])
        assert made["majority"] == votes.majority[rows].tolist()
        assert made["old_label"] == votes.old_label[rows].tolist()
        if votes.dataset.name == "alphanli":
            assert made["old_votes"] is None
        else:
            assert np.array_equal(np.transpose(made["old_votes"]), votes.old_votes[rows])
        close = {"rtol": 0, "atol": 0.5 / explorer.SCALE}
        measured = entropy(votes.shares, unit="bits")[rows]
        np.testing.assert_allclose(np.array(made["entropy"]) / explorer.SCALE, measured, **close)
        for system, found in zip(systems, made["systems"], strict=True):
            assert found["name"] == system.name
            assert found["label"] == system.predicted[rows].tolist()
            pair = votes.shares[rows], system.probabilities[rows]
            for name, values in {
                "shares": pair[1].T[:-1],
                "jsd": jensen_shannon_distance(*pair, unit="nats"),
                "tvd": total_variation(*pair),
            }.items():
                np.testing.assert_allclose(np.array(found[name]) / explorer.SCALE, values, **close)


def test_what_a_system_does_not_cover_is_empty_and_the_rest_in_its_place(sample):
    votes = sample[0]
    whole = synthetic_systems(votes)[0]
    part = System("part", votes.dataset, whole.uids[10:5:-1], whole.probabilities[10:5:-1],
                       whole.predicted[10:5:-1])  # fmt: skip
    found, all_ = explorer.columns(votes, [part, whole])["systems"]
    covered = [uid in part.uids for uid in sorted(votes.uids)]
    for name in ("label", "jsd", "tvd"):
        assert found[name] == [
            value if there else None for value, there in zip(all_[name], covered, strict=True)
        ]


def test_scripts_are_the_same_each_time_and_keep_any_text(sample):
    votes = sample[0]
    texts = explorer.texts(votes)
    assert texts[0][0] == votes.texts[votes.index(min(votes.uids))]["premise"]
    made = [
        scripts.packed("X", explorer.columns(votes, load_systems(votes)), "A notice.")
        for _ in range(2)
    ]
    assert made[0] == made[1]
    odd = ["</script><script>alert(1)</script>", "*/ \u2028 \\ \" ' αé"]
    assert read(scripts.packed("X", odd, "A notice."), "X") == odd


@pytest.mark.parametrize("url", ["", "https://example.org/book/"])
def test_a_citation_names_the_item_the_book_and_the_data(url):
    book = Book("A & B", "1.0", "", "2026-11-20", ("Its authors",), url)
    made = explorer.citation(book, synthetic=False)
    assert made["plain"].startswith("Its authors (2026). Item <uid> of <title>. In A & B")
    assert made["bibtex"].startswith("@misc{<key>,\n")
    assert r"A \& B" in made["bibtex"]
    for text in (made["plain"], made["bibtex"]):
        assert ("https://example.org/book/explorer.html#<place>" in text) == bool(url)
    assert explorer.citation(book, synthetic=True)["plain"].count("Synthetic sample: Item") == 1


def test_the_released_data_has_4645_items(released):
    made = [explorer.columns(votes, []) for votes in released]
    assert [len(dataset["uids"]) for dataset in made] == [1514, 1599, 1532]
    assert sum(map(sum, (column for dataset in made for column in dataset["votes"]))) == 464_500
