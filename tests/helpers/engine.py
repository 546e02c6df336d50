"""Tiny trainings on the synthetic sample."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.scoring.trained import Run
from chaos_utils.training.settings import Settings


def small(family: str = "bert", **more: Any) -> Settings:
    """Return settings that train for a second."""
    values = {"max_train_examples": 96, "batch_size": 16, "epochs": 1, "dev_examples": 40,
              "data": "sample", "precision": "fp32"}  # fmt: skip
    return Settings(model=f"tiny-{family}", **(values | more))


def shares(run: Run) -> npt.NDArray[np.float64]:
    """Return what a run has predicted."""
    return pd.read_parquet(run.folder / "predictions.parquet").select_dtypes("float").to_numpy()


def stop_at(step: int) -> Callable[[str, int, int], None]:
    """Return a report of progress that interrupts training after a step."""

    def report(what: str, done: int, of: int) -> None:
        if what == "training" and done == step:
            raise KeyboardInterrupt

    return report
