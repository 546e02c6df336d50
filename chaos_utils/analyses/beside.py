"""The evidence that files of others are read beside (`datasets.companions`)."""

from dataclasses import replace

from chaos_utils.analyses.evidence import Material
from chaos_utils.datasets.companions import Companion


def beside(material: Material, *companions: Companion) -> Material:
    """Return the evidence as it is where these files are available.

    Where one is missing, the package's own votes count as missing too: their tables are then
    recorded ones.
    """
    if all(one.available for one in companions):
        return material
    shown = (
        replace(one, given_votes=None, given_systems=None) if one.recordable else one
        for one in material
    )
    return replace(material, evidence=tuple(shown))
