import ast

import numpy as np
import pytest

from chaos_utils.base import paths
from chaos_utils.evaluation import ceilings, files, learning, results
from chaos_utils.scoring.references import DRAWS, PERFECT_MODEL, SECOND_CROWD, References
from chaos_utils.scoring.systems import load_systems


def by_measure(table, column, **columns):
    """Return a column by measure, of the rows in which other columns have these values."""
    for name, value in columns.items():
        table = table[table[name] == value]
    return table.dropna(subset=[column]).set_index("measure")[column].to_dict()


@pytest.mark.parametrize("number", [0, 2])
def test_a_reference_has_one_value_on_all_pages(sample, number):
    votes = sample[number]
    systems = load_systems(votes)[:1]
    drawn = References(votes)
    page = ceilings.reference_scores(drawn)
    rescaled = ceilings.normalised_scores(systems, drawn, 2, seed=0)
    shown = learning.learning_table(
        votes, [], References(votes, seed=0), n_resamples=1, confidence=0.95, seed=0
    )
    chart = results.drawn_results(results.main_results([votes], [[]], 0, 0), [votes], 0)
    answer = files.judge_files({votes.dataset.name: systems}, sample, n_resamples=1, seed=0)
    expected = drawn.scores(answer["measure"].unique())
    for system, kind, column in (
        (PERFECT_MODEL, "floor", "floor"),
        (SECOND_CROWD, "ceiling", "ceiling_halves"),
    ):
        values = by_measure(expected, "value", system=system)
        found = {
            "ceilings": by_measure(page, column),
            "rescaled": by_measure(rescaled, kind),
            "learning": by_measure(shown, "value", method=kind),
            "results": by_measure(chart, "value", kind=kind),
            "evaluate": by_measure(answer, kind),
        }
        for place, of_place in found.items():
            assert "jsd" in of_place, place
            common = values.keys() & of_place.keys()
            assert {m: of_place[m] for m in common} == {m: values[m] for m in common}, place


def test_every_page_draws_as_often():
    found = {}
    for path in sorted(paths.notebooks().glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "draws":
                found[path.stem] = ast.literal_eval(node.value)
    assert found == {"ceilings": DRAWS}


def test_a_part_of_the_items_has_the_digits_of_the_whole(sample):
    found = References(sample[0], 3)
    everything = np.arange(len(sample[0]))
    for measure in ("jsd", "dist_ce", "ent_ce", "kl", "new_accuracy"):
        whole = found.perfect_model(measure)
        assert whole.on(everything).value == whole.value
