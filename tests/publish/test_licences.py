"""What is said of the licence of others' data."""

from chaos_utils.book import group_of
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.dataset import Release
from chaos_utils.publish import licences
from chaos_utils.publish.scripts import script


def test_a_notice_names_datasets_releases_and_licences():
    other = get_dataset("snli").model_copy(
        update={"short": "Moods", "release": Release(title="Moods 1.0", licence="MIT")}
    )
    assert licences.notice(list(map(group_of, [*book_datasets(), other]))) == (
        "Item texts: SNLI, MNLI and αNLI of ChaosNLI v1.0 (Nie, Zhou and Bansal 2020); "
        "licence CC BY-NC 4.0. Moods of Moods 1.0; licence MIT."
    )
    unknown = other.model_copy(update={"release": Release()})
    assert (
        licences.votes_notice([group_of(unknown)]) == "Votes on items: Moods; licence not stated."
    )


def test_files_that_carry_a_notice_are_found_and_no_others(tmp_path):
    evil = group_of(get_dataset("snli").model_copy(update={"short": "*/ <b>"}))
    texts, votes = licences.notice([evil]), licences.votes_notice([evil])
    files = {
        "page.html": f"<h1>Items</h1>{licences.paragraph(texts)}",
        "texts.js": script("A", {}, texts),
        "votes.js": script("A", {}, votes),
        "said.html": f"<p>{texts}</p>",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert licences.files_with_item_texts(tmp_path) == ["page.html", "texts.js"]
    assert licences.files_with_votes(tmp_path) == ["votes.js"]
    assert "<b>" not in files["page.html"]
    assert files["votes.js"].index("*/") > files["votes.js"].index("licence")
