"""Votes by name, folder or file: what the parameter ``data`` may be."""

from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.votes import Votes


def load_votes(dataset: str, data: str = "auto") -> Votes:
    """Read the votes on one dataset.

    Parameters
    ----------
    dataset : str
        Its name, such as ``snli``.
    data : str
        ``auto``, ``released``, ``sample`` or a folder; see `sources.locate`.

    Returns
    -------
    Votes

    Raises
    ------
    ChaosError
        If the file cannot be found, is not the published one, or has faults.
    """
    found = get_dataset(dataset)
    path = sources.locate(found.file, data)
    if data in sources.KEYWORDS:
        return read_chaosnli(path, found, name=found.file)
    return read_chaosnli(path, found, name=f"own-data/{path.name}", any_number=True)


def load_all_votes(data: str = "auto") -> list[Votes]:
    """Read the votes on every dataset of the book; of a folder, on those that it holds.

    Parameters
    ----------
    data : str
        ``auto``, ``released``, ``sample`` or a folder; see `sources.locate`.

    Returns
    -------
    list of Votes
        In the order of the book's datasets.

    Raises
    ------
    ChaosError
        As `load_votes`; if a folder holds none of them.
    """
    datasets = book_datasets()
    if data not in sources.KEYWORDS:
        held = [one for one in datasets if sources.holds(one.file, data)]
        datasets = held or datasets
    return [load_votes(one.name, data) for one in datasets]
