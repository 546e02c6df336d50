"""`chaos plan`: which items to ask about next."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from chaos_utils.base.errors import check_known, counted
from chaos_utils.base.files import csv_text, write_text
from chaos_utils.cli.arguments import Replace, beside, check_result, formula_notes
from chaos_utils.cli.console import Grid, Replies, Reply, command

if TYPE_CHECKING:
    from chaos_utils.datasets.votes import Votes
    from chaos_utils.scoring.next_votes import Plan


@command()
def plan(
    votes: Annotated[
        str,
        Argument(metavar="VOTES", help="A votes file, a dataset's YAML file, or its name."),
    ],
    n_votes: Annotated[int, Option("--votes", metavar="N", help="How many votes to spend.")],
    aim: Annotated[
        str,
        Option("--for", metavar="AIM", help="What the votes are for: majority or shares."),
    ] = "majority",
    round_size: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Votes per round, after which you plan again; by default a third of the items.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="By default beside the votes, named …-plan.csv."),
    ] = None,
    seed: Annotated[int, Option(min=0, help="Seed of the forecast; the plan itself has none.")] = 0,
    force: Replace = False,
) -> Replies:
    """Write which items to ask about next, and how often; say what this gains over even votes."""
    from chaos_utils.cli.export import load_dataset
    from chaos_utils.datasets.dataset import is_dataset_file
    from chaos_utils.metrics.allocation import RULES, STARTING_VOTES
    from chaos_utils.scoring import next_votes

    check_known("There is no such aim.", aim, next_votes.AIMS, where="--for")
    target = to or beside(votes, "-plan.csv")
    check_result(target, votes, force)
    loaded = load_dataset(votes)
    found = next_votes.plan(loaded, n_votes, aim, round_size, seed=seed)
    write_text(target, csv_text(found.rows()))
    n_asked, n_items = int(found.asked.sum()), int((found.asked > 0).sum())
    title = (
        f"up to {STARTING_VOTES} votes each, before any rule is followed"
        if found.starting
        else RULES[found.rule].title
    )
    after = f"round 1 of {found.n_rounds}: {title}"
    notes = [_how_to_add(loaded, found, is_described=is_dataset_file(Path(votes)))]
    if found.n_rounds > 1:
        notes.append("then plan again with the remaining votes, until they are spent")
    first = (loaded.batches or (1,))[0]
    notes.append(f"people and models are judged by batch {first} alone: later votes are on items "
                 "that divide people")  # fmt: skip
    notes += formula_notes(uid for uid, n in zip(found.uids, found.asked, strict=True) if n)
    if aim == "shares":
        notes.append("for shares, evenly spread votes are nearly as good, and unbiased")
    outlooks = {"now": found.now, "spread evenly": found.even, "as planned": found.planned}
    for name, outlook in list(outlooks.items())[1:]:
        if abs(outlook.right - found.now.right) < 2 * outlook.right_error:
            notes.append(f"{name}: the forecast shows no change in right majorities beyond its "
                         f"error, {200 * outlook.right_error:.1f} points")  # fmt: skip
    grid = Grid(
        ("expected", "majority right", "votes misplaced of a hundred"),
        [
            (name, f"{outlook.right:.1%}", f"{outlook.misplaced:.1f}")
            for name, outlook in outlooks.items()
        ],
        right=("majority right", "votes misplaced of a hundred"),
    )
    yield Reply(
        {
            "file": str(target),
            "votes": n_asked,
            "items": n_items,
            "batch": found.batch,
            "rounds": found.n_rounds,
            "rule": found.rule,
            **{name: asdict(outlook) for name, outlook in outlooks.items()},
            "notes": notes,
        },
        [
            str(target),
            f"  {counted(n_asked, 'vote')} on {counted(n_items, 'item')}; {after}",
            "",
            f"after {counted(n_votes, 'vote')}:",
            grid,
            *(f"  {note}" for note in notes),
        ],
    )


def _how_to_add(votes: "Votes", plan: "Plan", *, is_described: bool) -> str:
    """Return how the votes of a plan are added to those that it was made for.

    Only files with a row per vote have batches, and not together with rounds.
    """
    new = f"{plan.batch} in a column `batch`"
    if not votes.batches and not plan.starting:
        new += ", and 1 beside the existing votes"
    if votes.dataset.reader.format != "long":
        return f"this format cannot hold batches: write a file with a row per vote, with {new}"
    if votes.annotations is not None and votes.annotations.round is not None:
        return (
            "batches exclude rounds: leave out repeated votes by the same person on an item, and "
            f"the column that numbers the rounds; then add these votes, with {new}"
        )
    name_it = is_described and not votes.batches
    return f"add these votes to the file, with {new}" + (
        "; name the column in the YAML file: `reader.batch`" if name_it else ""
    )
