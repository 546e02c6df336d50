"""Notes on a page's inputs, and which systems are left out of figures because we trained them."""

import pandas as pd

from chaos_utils.analyses.inputs import AnalysisInputs
from chaos_utils.analyses.names import join_names
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring.evaluate import note_on_few
from chaos_utils.scoring.training_records import committed_runs

READS_FOR = ("predictions",)


def notices(inputs: AnalysisInputs) -> str:
    """Return notes on a page's `inputs` for its reader, as Markdown; empty if there are none."""
    notes = (_data_warning, system_notes, _missing_models_note)
    return "\n\n".join(filter(None, (note(inputs) for note in notes)))


def system_notes(inputs: AnalysisInputs) -> str:
    """Return the notes on a reader's own systems, such as those that are machine votes."""
    return "\n>\n".join(
        f"> {in_markdown(f'{system.name}: {note}.')}"
        for dataset_inputs in inputs
        if dataset_inputs.own  # others have none of the reader's
        for several in dataset_inputs.systems or ()
        for system in several
        if system.origin == "yours"
        for note in system.notes
    )


def _data_warning(inputs: AnalysisInputs) -> str:
    """Warn that data are not the book's, and say what was left out of the files."""
    if inputs.released:
        return ""
    files = ", ".join(f"<code>{in_markdown(votes.source.name)}</code>" for votes in inputs.votes)
    notes = "".join(
        f"\n>\n> {in_markdown(note)}"
        for votes in inputs.votes
        for note in (votes.dataset.warning, *votes.notes, votes.are_few and note_on_few(votes))
        if note
    )
    return (
        f"> **Not the released ChaosNLI.** This page was made from {files}. Its numbers, figures "
        "and tables are of that data; what the text says in words, and the papers' numbers beside "
        "ours, are about the released ChaosNLI." + notes
    )


def _missing_models_note(inputs: AnalysisInputs) -> str:
    """Say on which datasets there are no predictions, unless they were left out on purpose."""
    tasks = [] if inputs.trained else [get_task(run.settings.task) for run in committed_runs()]
    untrained = {name for task in tasks for name in task.datasets}
    without = [
        dataset_inputs.datasets[0].short
        for dataset_inputs in inputs
        if dataset_inputs.given_systems is not None
        and len(dataset_inputs.datasets) == 1
        and not dataset_inputs.has_systems
        if dataset_inputs.name not in untrained
    ]
    if not without:
        return ""
    names = join_names(map(in_markdown, without))
    return (
        f"*No model's predictions are available for {names}: what is "
        "computed there needs none. To add a model, pass `-p predictions=FILE`.*"
    )


def names_of_yours(inputs: AnalysisInputs) -> list[str]:
    """Return the families of the reader's own systems, which figures show in colour."""
    parts = [part for part in inputs if part.own]  # others have none of the reader's
    systems = [system for part in parts for several in part.systems or () for system in several]
    return list(dict.fromkeys(system.family for system in systems if system.origin == "yours"))


def are_our_own(systems: "pd.Series[str]") -> "pd.Series[bool]":
    """Return which systems this project trained: small encoders, which most figures leave out."""
    families = {run.system.partition(",")[0] for run in committed_runs()}
    return systems.astype(str).str.replace(",.*", "", regex=True).isin(families)
