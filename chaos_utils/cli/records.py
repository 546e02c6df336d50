"""`chaos record` and `chaos verify`: the recorded tables against what a build computed."""

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.cli.console import AsJson, out, print_json
from chaos_utils.cli.extras import need_book


def record(as_json: AsJson = False) -> None:
    """Record the tables of the last build in results/tables/."""
    need_book()
    from chaos_utils.publish import records

    changes = records.renew()
    if as_json:
        print_json({"changed": changes, "records": len(records.stored())})
        return
    for line in changes:
        out.print(line, markup=False)
    out.print(
        f"{counted(len(records.stored()), 'recorded table')}, {len(changes)} changed", markup=False
    )


def verify(as_json: AsJson = False) -> None:
    """Compare the recorded tables with those of the last build, cell by cell."""
    need_book()
    from dataclasses import asdict

    from chaos_utils.publish import records

    found, unchecked, outdated = records.compare()
    n_records = len(records.stored())
    if as_json:
        print_json(
            {
                "records": n_records,
                "differences": [asdict(one) for one in found],
                "unchecked": unchecked,
                "outdated": outdated,
            }
        )
    else:
        for one in found:
            out.print(str(one), markup=False)
        differing = {one.record for one in found} & records.stored().keys()
        agree = n_records - len(differing) - len(unchecked)
        out.print(f"{agree} of {n_records} recorded tables are as computed", markup=False)
        if unchecked:
            out.print(
                f"{len(unchecked)} were not computed: their votes or predictions are not "
                "available (`chaos data fetch`)",
                markup=False,
            )
        if outdated:
            out.print(
                f"{len(outdated)} of those that agree were made by other code; run `make record` "
                "to update them",
                markup=False,
            )
    if found:
        raise ChaosError(
            "Recorded tables differ from what was computed.",
            found=counted(len(found), "difference"),
            todo="if the new numbers are right, run `make record` and commit results/tables/",
        )
