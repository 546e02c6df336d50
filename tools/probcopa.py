"""Make the table of ProbCOPA's settings from a clone of its repository: answers alone, no texts.

    git clone https://github.com/McGill-NLP/probabilistic-reasoning clone
    python tools/probcopa.py clone data/probcopa/ablations_30_items.csv

It holds the 35 settings of `_SETTINGS`. The files of human answers, which have canary lines, are
not touched.
"""

import json
import sys
from pathlib import Path

from chaos_utils.base.files import write_text

_SETTINGS = {  # by model: the settings, each with its values
    "DeepSeek-R1": {"structured_personas": ["demographic"]},
    "GLM-4.6": {
        "reasoning_effort": ["low"],
        "structured_personas": ["demographic", "psychological"],
        "temperature": ["0.8"],
    },
    "claude-opus-4.6": {"reasoning_effort": ["high", "low", "medium"]},
    "claude-sonnet-4.5": {
        "structured_personas": ["demographic", "psychological"],
        "thinking_budget": ["2048", "4096", "512"],
    },
    "gemini-3-pro-preview": {
        "structured_personas": ["demographic", "psychological"],
        "temperature": ["0.4", "0.8", "1.2", "1.6", "2.0"],
        "thinking_budget": ["2048", "4096", "512"],
    },
    "gpt-5": {
        "reasoning_effort": ["high", "low", "medium"],
        "structured_personas": ["demographic", "psychological"],
    },
    "grok-4.1-fast": {
        "structured_personas": ["demographic", "psychological"],
        "temperature": ["0.4", "0.8", "1.2", "1.6", "2.0"],
    },
}
_FOLDERS = {
    "structured_personas": "persona_prompt_experiments",
    "temperature": "temperature_experiments",
}


def main(clone: Path, to: Path) -> None:
    """Write the answers of all settings in the `clone` as CSV."""
    lines = ["model,setting,value,UID,run_or_persona,answer"]
    for model, settings in _SETTINGS.items():
        for setting, values in settings.items():
            folder = clone / "results" / _FOLDERS.get(setting, "reasoning_effort_experiments")
            for value in values:
                file = folder / f"{model}_{setting}_{value}.jsonl"
                for text in file.read_text("utf-8").splitlines():
                    row = json.loads(text)
                    run = row["run"] if "run" in row else row["persona_id"]
                    answer = "" if row["answer"] is None else row["answer"]
                    lines.append(f"{model},{setting},{value},{row['UID']},{run},{answer}")
    write_text(to, "\r\n".join([*lines, ""]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
