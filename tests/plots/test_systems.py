import pytest

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.plots.systems import language_model_name


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("kimi-k2.6", "Kimi K2.6"), ("Kimi K3", "Kimi K3"), ("Kimi-K2.7-Code", "Kimi K2.7 Code"),
        ("claude-haiku-4-5-20251001", "Claude Haiku 4.5"), ("claude-opus-4.6", "Claude Opus 4.6"),
        ("doubao-seed-2-0-pro-260215", "Doubao Seed 2.0 Pro"), ("glm-5.1-fp8", "GLM-5.1 FP8"),
        ("gpt-5.6-sol", "GPT-5.6 Sol"), ("gpt-4o-mini", "GPT-4o mini"), ("o4-mini", "o4-mini"),
        ("deepseek-v3.2", "DeepSeek V3.2"), ("DeepSeek-R1", "DeepSeek R1"), ("glm-5", "GLM-5"),
        ("MiniMax-M3", "MiniMax M3"), ("gemini_flash", "Gemini Flash"), ("gpt", "GPT"),
        ("Qwen3-30B-A3B", "Qwen3-30B-A3B"), ("qwen3.7-plus", "Qwen3.7-Plus"),
        ("qwen3.6-27b", "Qwen3.6-27B"), ("Grok-4.6", "Grok 4.6"),
        # No language models.
        *((name, name) for name in ("MiniLM-L6, seed 0", "roberta-large", "people", "", "-1")),
    ],
)  # fmt: skip
def test_language_models_have_one_spelling(name, spelt):
    assert language_model_name(name) == spelt
    assert language_model_name(spelt) == spelt


def test_no_two_language_models_are_spelt_alike():
    names = [*read_published("judges32_models")["model"]]
    spelt = [language_model_name(name) for name in names]
    assert len(set(spelt)) == len(names) == 32
    assert not [name for name in spelt if name[0].islower() and name != "o4-mini"]
