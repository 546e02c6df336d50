"""What a page says of its own material: other data than the book's, models that we trained."""

from chaos_utils.analyses.inputs import AnalysisInputs
from chaos_utils.analyses.names import listed
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring.evaluate import note_on_few
from chaos_utils.scoring.training_records import committed_runs, of_most_items

READS_FOR = ("predictions",)


def notices(material: AnalysisInputs) -> str:
    """Return what a reader must know of a page's `material`, as Markdown; or nothing."""
    said = (_of_data, of_systems, _of_training, _without_models)
    return "\n\n".join(filter(None, (one(material) for one in said)))


def of_systems(material: AnalysisInputs) -> str:
    """Say what a reader must know of their own systems: which are crowds of machine votes."""
    return "\n>\n".join(
        f"> {in_markdown(f'{system.name}: {note}.')}"
        for one in material
        if one.own  # others have none of the reader's
        for several in one.systems or ()
        for system in several
        if system.origin == "yours"
        for note in system.notes
    )


def _of_data(material: AnalysisInputs) -> str:
    """Warn of other data than what the book shows, and say what was left out of the files."""
    if material.released:
        return ""
    files = ", ".join(f"<code>{in_markdown(votes.source.name)}</code>" for votes in material.votes)
    notes = "".join(
        f"\n>\n> {in_markdown(note)}"
        for votes in material.votes
        for note in (votes.dataset.warning, *votes.notes, votes.are_few and note_on_few(votes))
        if note
    )
    return (
        f"> **Not the released ChaosNLI.** This page was made from {files}. Its numbers, figures "
        "and tables are of that data; what the text says in words, and the papers' numbers beside "
        "ours, are about the released ChaosNLI." + notes
    )


def _of_training(material: AnalysisInputs) -> str:
    """Say which of the systems this project has trained."""
    if not material.trained or material.synthetic:
        return ""
    here = {one.name for one in material.datasets}
    ours = dict.fromkeys(
        run.system.partition(",")[0]
        for run in of_most_items(committed_runs())
        if not here.isdisjoint(get_task(run.settings.task).datasets)
    )
    if not ours:
        return ""
    were = "were" if len(ours) > 1 else "was"
    return (
        f"{listed(map(in_markdown, ours))} {were} trained for this book, on parts of the "
        "published training items ({doc}`finetuning`)."
    )


def _without_models(material: AnalysisInputs) -> str:
    """Say for which datasets there are no predictions of a model, nor any that was left out."""
    tasks = [] if material.trained else [get_task(run.settings.task) for run in committed_runs()]
    left_out = {name for task in tasks for name in task.datasets}
    without = [
        one.datasets[0].short
        for one in material
        if one.given_systems is not None and len(one.datasets) == 1 and not one.has_systems
        if one.name not in left_out
    ]
    if not without:
        return ""
    return (
        f"*No model's predictions are available for {listed(map(in_markdown, without))}: what is "
        "computed there needs none. To add a model, pass `-p predictions=FILE`.*"
    )
