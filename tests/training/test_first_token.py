"""A last layer that goes on with the first token alone: the same logits and gradients."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification

from chaos_utils.training.first_token import first_token_weights, only_first_token

SHAPE = {
    "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 64, "max_position_embeddings": 40, "pad_token_id": 0, "num_labels": 3,
}  # fmt: skip


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "electra", "xlm-roberta"])
def test_logits_and_gradients_stay_and_the_last_layer_is_cut(family, attention):
    torch.manual_seed(0)
    config = AutoConfig.for_model(family, **SHAPE)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    if family != "mpnet":
        model.set_attn_implementation(attention)
    tokens = torch.randint(5, 50, (4, 9))
    mask = torch.ones_like(tokens)
    tokens[0, 6:] = mask[0, 6:] = 0

    def judged():
        model.zero_grad()
        logits = model(input_ids=tokens, attention_mask=mask).logits
        torch.log_softmax(logits, dim=1)[:, 1].sum().backward()
        grads = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        return logits.detach(), grads

    seen = []
    last = model.base_model.encoder.layer[-1].intermediate
    last.register_forward_hook(lambda module, given, found: seen.append(given[0].shape[1]))
    logits, grads = judged()
    assert first_token_weights(model) == 0
    assert only_first_token(model) is model
    assert first_token_weights(model) == 2 * 32 * 64 + 64 + 32 + 2 * 32  # its biases and norm too
    cut_logits, cut_grads = judged()
    assert seen == [9, 1]
    assert torch.allclose(logits, cut_logits, atol=1e-6)
    assert grads.keys() == cut_grads.keys()
    for name, one in grads.items():
        assert torch.allclose(one, cut_grads[name], atol=1e-5), name


@pytest.mark.parametrize(
    ("family", "more"), [("albert", {"embedding_size": 16}), ("bert", {"is_decoder": True})]
)
def test_other_architectures_are_left_as_they_are(family, more):
    config = AutoConfig.for_model(family, **SHAPE, **more)
    model = only_first_token(AutoModelForSequenceClassification.from_config(config))
    assert not any(module._forward_hooks for module in model.modules())
