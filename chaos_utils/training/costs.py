"""What a run cost: arithmetic, throughput, memory, and the share of what the hardware can do."""

from typing import Any

from chaos_utils.training.checkpoints import Progress
from chaos_utils.training.devices import Device, measured_peak, peak_memory_gib


def training_flops(model: Any, padded_tokens: int, attention: int) -> float:
    """Return the floating-point operations of training, forward and backward.

    Six for each weight outside the embeddings and each token, padding among them, as Kaplan et
    al. (2020, "Scaling laws for neural language models") count, and ``12 * layers * width`` for
    each pair of positions in a sequence: `attention` is the sum of squared sequence lengths.
    """
    import torch

    config = model.config
    # By identity, since encoder and decoder may share an embedding.
    embeddings = {
        id(module.weight): module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Embedding)
    }
    weights = sum(p.numel() for p in model.parameters()) - sum(embeddings.values())
    layers = config.num_hidden_layers
    if config.model_type == "albert":
        weights *= layers  # one layer's weights, used in each
    if config.is_encoder_decoder:
        layers += config.decoder_layers
    return 6.0 * weights * padded_tokens + 12.0 * layers * config.hidden_size * attention


def cost_of(model: Any, state: Progress, device: Device, n_processes: int) -> dict[str, Any]:
    """Return what training cost, ready for the record.

    ``padded_tokens``, ``cpu_seconds`` and ``flops`` are this process's; ``peak_share`` compares the
    last with a large matrix product, measured now. Seconds are those of all the calls that the run
    took, ``devices`` what these ran on, and ``peak_memory_gib`` is of the last call.
    """
    memory = peak_memory_gib(device)  # before the product below takes its own
    flops = training_flops(model, state.padded_tokens, state.attention)
    peak = measured_peak(device)
    seconds = max(state.seconds, 1e-9)
    return {
        "pairs": state.pairs,
        "tokens": state.tokens,
        "padded_tokens": state.padded_tokens,
        "seconds": round(state.seconds, 1),
        "cpu_seconds": round(state.cpu_seconds, 1),
        "calls": len(state.calls),
        "devices": list(dict.fromkeys(state.calls)),
        "pairs_per_second": round(state.pairs / seconds, 1),
        "tokens_per_second": round(state.tokens / seconds),
        "flops": float(f"{flops:.4g}"),
        "measured_peak_flops_per_second": float(f"{peak:.3g}"),
        "peak_share": round(flops / seconds / peak, 4),
        "peak_memory_gib": round(memory, 2),
        "processes": n_processes,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
