"""Settings of a model of transformers that follow from other keys of a study."""

from __future__ import annotations

LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len")
"""Names that architectures use for their number of positions."""
DECIDED = {
    **dict.fromkeys(("vocab_size", "num_labels", "id2label", "label2id"), "data"),
    **dict.fromkeys(("is_decoder", "is_encoder_decoder", "problem_type", "use_cache"), "model.task"),
    **dict.fromkeys(("dtype", "torch_dtype"), "precision of the variant"),
    **dict.fromkeys(("model_type", "architectures"), "model.architecture"),
}
"""Settings that follow from other keys of the study -> these keys."""


def origin_of(setting: str) -> str:
    """The key of the study that a setting follows from; '' if it is free."""
    return DECIDED.get(setting, "data" if setting.endswith("_token_id") else "")
