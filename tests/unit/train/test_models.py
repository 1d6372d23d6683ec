"""The networks: what they compute, how large they are, what they cost, and which parts of them are units."""

from __future__ import annotations

import importlib.util
import math
import sys
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from pydantic import TypeAdapter
from scalestudy.errors import UserError
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import Model
from scalestudy.study.config.workloads import Workload
from scalestudy.train.flops import flops_per_sample
from scalestudy.train.workloads import build_model
from scalestudy.train.workloads.blocks import blocks_of
from scalestudy.train.workloads.task import correct_of, loss_of
from torch import Tensor, nn

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed (extra `huggingface`)"
)

VECTORS = {"type": "synthetic-vectors", "features": 4096, "classes": 2048}
IMAGES = {"type": "synthetic-images", "channels": 3, "size": 6, "classes": 5}
TOKENS = {"type": "synthetic-tokens", "sequence_length": 12, "vocabulary": 50, "classes": 3}

MLP = {"type": "mlp", "widths": [32, 16]}
CONVNET = {"type": "convnet", "channels": 8, "num_layers": 3}
SHAPE = {"d_model": 16, "heads": 2, "num_layers": 3, "feedforward_dim": 40}
CLASSIFIER = {"type": "text-classifier", **SHAPE}
DECODER = {"type": "language-model", **SHAPE}
BERT = {
    "type": "hugging-face",
    "architecture": "bert",
    "settings": {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 40,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    },
}
GPT2 = {
    "type": "hugging-face",
    "architecture": "gpt2",
    "task": "next-token",
    "settings": {"n_embd": 16, "n_layer": 2, "n_head": 2},
}
NEXT_TOKEN_BERT = BERT | {"task": "next-token"}


def model_of(config: dict[str, Any]) -> Model:
    return TypeAdapter(Model).validate_python(config)


def data_of(config: dict[str, Any]) -> Data:
    return TypeAdapter(Data).validate_python(config)


def build(model: dict[str, Any], data: dict[str, Any]) -> nn.Module:
    torch.manual_seed(0)
    return build_model(model_of(model), data_of(data))


def flops(model: dict[str, Any], data: dict[str, Any]) -> int | None:
    return flops_per_sample(model_of(model), data_of(data))


def size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def some_tokens(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.randint(1, TOKENS["vocabulary"], shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


def shifted(tokens: Tensor) -> Tensor:
    """Other tokens, none of them padding."""
    return tokens % (TOKENS["vocabulary"] - 1) + 1


# Sizes


def transformer_layers(*, width: int, feedforward: int, layers: int) -> int:
    """Weights and biases of qkv, output, two feed-forward layers, two norms."""
    attention = width * 3 * width + 3 * width + width * width + width
    return layers * (attention + 2 * width * feedforward + feedforward + width + 4 * width)


def test_the_size_of_a_wide_mlp() -> None:
    with torch.device("meta"):
        model = build({"type": "mlp", "widths": [4096, 4096]}, VECTORS)
    assert size(model) == 4096 * 4096 * 2 + 4096 * 2048 + 4096 * 2 + 2048
    assert size(model) == pytest.approx(41.95e6, rel=1e-3)


def test_the_size_of_a_convnet() -> None:
    assert size(build(CONVNET, IMAGES)) == (9 * 3 * 8 + 8) + 2 * (9 * 8 * 8 + 8) + (4 * 8 * 5 + 5)


def test_the_sizes_of_the_transformers() -> None:
    """The embedding of the language model is its output layer too, and counts once."""
    layers = transformer_layers(width=16, feedforward=40, layers=3)
    embeddings, norm = 50 * 16 + 12 * 16, 2 * 16
    assert size(build(DECODER, TOKENS)) == embeddings + layers + norm
    assert size(build(CLASSIFIER, TOKENS)) == embeddings + layers + norm + 16 * 3 + 3


def test_a_language_model_of_a_wanted_size() -> None:
    with torch.device("meta"):
        model = build({"type": "language-model", "parameters": "125M"}, TOKENS)
    assert size(model.blocks) == pytest.approx(125e6, rel=0.1)


def test_the_first_networks_are_what_they_were() -> None:
    """Same layers, created in the same order: the same seed still gives the same parameters."""
    torch.manual_seed(0)
    mlp = [nn.Linear(64, 32), nn.Linear(32, 32), nn.Linear(32, 10)]
    torch.manual_seed(0)
    convnet = [nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1), nn.Linear(32, 10)]
    for parts, config in [
        (mlp, {"type": "mlp", "hidden_dim": 32, "num_layers": 2}),
        (convnet, {"type": "convnet", "channels": 8, "num_layers": 2}),
    ]:
        built = build(config, {"type": "digits"})
        expected = [parameter for part in parts for parameter in part.parameters()]
        assert isinstance(built, nn.Sequential)
        assert all(torch.equal(a, b) for a, b in zip(built.parameters(), expected, strict=True))


def test_the_residual_projections_begin_smaller() -> None:
    model = build({**DECODER, "d_model": 64, "num_layers": 8}, TOKENS)
    block = model.blocks[3]
    for weight in (block.attention.out.weight, block.feedforward_out.weight):
        assert weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)
    for weight in (block.attention.qkv.weight, block.feedforward_in.weight, model.embedding.weight):
        assert weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert not block.attention.qkv.bias.any()
    assert (block.attention_norm.weight == 1).all()


# What goes in and comes out

HUGGING_FACE = [
    pytest.param(BERT, TOKENS, (4, 3), marks=needs_transformers, id="bert"),
    pytest.param({**GPT2, "task": "classify"}, TOKENS, (4, 3), marks=needs_transformers, id="gpt2-texts"),
    pytest.param(GPT2, TOKENS, (4, 12, 50), marks=needs_transformers, id="gpt2"),
    pytest.param(NEXT_TOKEN_BERT, TOKENS, (4, 12, 50), marks=needs_transformers, id="bert-stream"),
]


@pytest.mark.parametrize(
    ("model", "data", "expected"),
    [
        pytest.param(MLP, {**VECTORS, "features": 7}, (4, 2048), id="mlp"),
        pytest.param(MLP, IMAGES, (4, 5), id="mlp-images"),
        pytest.param(CONVNET, IMAGES, (4, 5), id="convnet"),
        pytest.param(CLASSIFIER, TOKENS, (4, 3), id="text-classifier"),
        pytest.param(DECODER, TOKENS, (4, 12, 50), id="language-model"),
        *HUGGING_FACE,
    ],
)
def test_shapes_follow_from_the_data(model: dict[str, Any], data: dict[str, Any], expected: tuple[int]) -> None:
    """And every parameter takes part: DDP waits for a gradient of each."""
    network, shape = build(model, data), data_of(data).shape
    if data is TOKENS:
        inputs = [some_tokens(4, *shape), some_tokens(4, *shape, dtype=torch.int32)]
    else:
        inputs = [torch.randn(4, *shape)]
    for given in inputs:
        logits = network(given)
        assert logits.shape == expected
    logits.sum().backward()
    assert not [name for name, parameter in network.named_parameters() if parameter.grad is None]


CAUSAL = [
    pytest.param(DECODER, id="language-model"),
    pytest.param(GPT2, marks=needs_transformers, id="gpt2"),
    pytest.param(NEXT_TOKEN_BERT, marks=needs_transformers, id="bert-stream"),
]


@pytest.mark.parametrize("model", CAUSAL)
@pytest.mark.parametrize("place", [1, 7, 11])
def test_a_later_token_changes_no_earlier_prediction(model: dict[str, Any], place: int) -> None:
    network = build(model, TOKENS).eval()
    tokens = some_tokens(2, 12)
    changed = tokens.clone()
    changed[:, place] = shifted(tokens[:, place])
    before, after = network(tokens), network(changed)
    torch.testing.assert_close(after[:, :place], before[:, :place])
    assert not torch.allclose(after[:, place:], before[:, place:])


PADDED = [
    pytest.param(CLASSIFIER, id="text-classifier"),
    pytest.param(BERT, marks=needs_transformers, id="bert"),
    pytest.param({**GPT2, "task": "classify"}, marks=needs_transformers, id="gpt2"),
]


@pytest.mark.parametrize("model", PADDED)
def test_padding_changes_nothing(model: dict[str, Any]) -> None:
    network = build(model, TOKENS).eval()
    short = some_tokens(3, 5)
    logits = network(short)
    for length in (8, 12):
        torch.testing.assert_close(network(F.pad(short, (0, length - 5))), logits)
    mixed = torch.cat([F.pad(short, (0, 7)), some_tokens(2, 12)])
    torch.testing.assert_close(network(mixed)[:3], logits)


@pytest.mark.parametrize("model", PADDED)
def test_a_text_without_tokens_gives_numbers(model: dict[str, Any]) -> None:
    """An empty text of a data set must not end a run: neither forward nor backward."""
    network = build(model, TOKENS)
    tokens = some_tokens(3, 12)
    tokens[1] = 0
    logits = network(tokens)
    loss_of(logits, torch.tensor([0, 1, 2])).backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


def test_order_matters_to_the_classifier() -> None:
    network = build(CLASSIFIER, TOKENS).eval()
    tokens = some_tokens(1, 12)
    assert not torch.allclose(network(tokens), network(tokens.flip(1)))


@pytest.mark.parametrize("model", [CLASSIFIER, DECODER], ids=["text-classifier", "language-model"])
def test_dropout_is_there_where_it_is_asked_for(model: dict[str, Any]) -> None:
    plain, dropping = build(model, TOKENS), build({**model, "dropout": 0.5}, TOKENS)
    tokens = some_tokens(2, 12)
    assert torch.equal(plain(tokens), plain(tokens))
    assert not torch.equal(dropping(tokens), dropping(tokens))
    assert torch.equal(dropping.eval()(tokens), plain(tokens))


# Units


@pytest.mark.parametrize(
    ("model", "data", "expected"),
    [
        pytest.param(MLP, IMAGES, ["Linear"] * 3, id="mlp"),
        pytest.param(CONVNET, IMAGES, ["Conv2d"] * 3 + ["Linear"], id="convnet"),
        pytest.param(CLASSIFIER, TOKENS, ["Block"] * 3, id="text-classifier"),
        pytest.param(DECODER, TOKENS, ["Block"] * 3, id="language-model"),
        pytest.param(BERT, TOKENS, ["BertLayer"] * 2, marks=needs_transformers, id="bert"),
        pytest.param(GPT2, TOKENS, ["GPT2Block"] * 2, marks=needs_transformers, id="gpt2"),
    ],
)
def test_blocks(model: dict[str, Any], data: dict[str, Any], expected: list[str]) -> None:
    blocks = blocks_of(build(model, data))
    assert [type(block).__name__ for block in blocks] == expected
    owned = [id(parameter) for block in blocks for parameter in block.parameters()]
    assert len(set(owned)) == len(owned)


def test_the_tied_embedding_is_in_no_block() -> None:
    model = build(DECODER, TOKENS)
    owned = {id(parameter) for block in blocks_of(model) for parameter in block.parameters()}
    assert id(model.embedding.weight) not in owned


def test_blocks_of_other_models() -> None:
    """The outermost list counts, not one that happens to come first; without any, the children do."""

    class Lists(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Module()
            self.stem.parts = nn.ModuleList([nn.Linear(1, 1)])
            self.activations = nn.ModuleList([nn.ReLU()])
            self.layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)])

    class Children(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.three = nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)

    lists, children = Lists(), Children()
    assert blocks_of(lists) == [lists.layers[0], lists.layers[2]]
    assert blocks_of(children) == [children.one, children.three]
    assert blocks_of(nn.Linear(1, 1)) == []


COMPILED = [
    pytest.param(MLP, IMAGES, id="mlp"),
    pytest.param(CONVNET, IMAGES, id="convnet"),
    pytest.param(CLASSIFIER, TOKENS, id="text-classifier"),
    pytest.param(DECODER, TOKENS, id="language-model"),
    pytest.param(GPT2, TOKENS, marks=needs_transformers, id="gpt2"),
]


@pytest.mark.parametrize(("model", "data"), COMPILED)
def test_every_model_is_one_graph_to_the_compiler(model: dict[str, Any], data: dict[str, Any]) -> None:
    """torch leaves out the forward passes of its own containers without a message."""
    graphs = []

    def backend(graph: torch.fx.GraphModule, _inputs: list[Tensor]) -> Any:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    network = build(model, data).eval()
    inputs = some_tokens(2, 12) if data is TOKENS else torch.randn(2, *data_of(data).shape)
    expected = network(inputs)
    network.compile(backend=backend)
    torch.testing.assert_close(network(inputs), expected)
    assert len(graphs) == 1


# Operations


def test_flops_of_an_mlp() -> None:
    """Six a weight: two forward, two for its gradient, two for that of its inputs, which the first layer omits."""
    first, others = 108 * 32, 32 * 16 + 16 * 5
    assert flops(MLP, IMAGES) == 4 * first + 6 * others


def test_flops_of_a_convnet() -> None:
    """As of an MLP, at each of 36 positions."""
    first, others, head = 9 * 3 * 8 * 36, 2 * 9 * 8 * 8 * 36, 4 * 8 * 5
    assert flops(CONVNET, IMAGES) == 4 * first + 6 * others + 6 * head


def attention_and_layers(*, length: int, width: int, feedforward: int, layers: int) -> int:
    weights = 4 * width**2 + 2 * width * feedforward
    # Scores and weighted sum: two products of length x length x width, each three times as the weights are.
    return layers * (6 * weights * length + 2 * 6 * length**2 * width)


def test_flops_of_the_transformers() -> None:
    layers = attention_and_layers(length=12, width=16, feedforward=40, layers=3)
    assert flops(DECODER, TOKENS) == layers + 6 * 12 * 16 * 50
    assert flops(CLASSIFIER, TOKENS) == layers + 6 * 16 * 3
    assert flops({**DECODER, "dropout": 0.1}, TOKENS) == flops(DECODER, TOKENS)


@needs_transformers
def test_flops_of_hugging_face_models() -> None:
    head = 6 * 12 * 16 * 50
    layers = attention_and_layers(length=12, width=16, feedforward=64, layers=2)
    assert flops(GPT2, TOKENS) == layers + head
    # The pooler works on the first token alone.
    layers = attention_and_layers(length=12, width=16, feedforward=40, layers=2)
    assert flops(BERT, TOKENS) == layers + 6 * 16 * 16 + 6 * 16 * 3


def test_counting_takes_no_memory_and_no_random_numbers() -> None:
    """100 000 wide would be 40 GB a layer. And a run must get the same parameters, counted or not."""
    before = torch.get_rng_state()
    assert flops({"type": "mlp", "widths": [100_000, 100_000]}, VECTORS) == 4 * 4096 * 10**5 + 6 * (
        10**10 + 2048 * 10**5
    )
    assert flops({**DECODER, "dropout": 0.1}, TOKENS)
    assert torch.equal(torch.get_rng_state(), before)


@needs_transformers
def test_counting_hugging_face_models_takes_no_random_numbers() -> None:
    before = torch.get_rng_state()
    assert flops({**GPT2, "task": "classify"}, TOKENS)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_cannot_be_counted_is_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    class Looks(nn.Module):
        def forward(self, inputs: Tensor) -> Tensor:
            return inputs if inputs.sum() > 0 else -inputs

    monkeypatch.setattr("scalestudy.train.flops.build_model", lambda model, data: Looks())
    assert flops(MLP, IMAGES) is None
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


# Loss and accuracy


def test_loss_and_accuracy_of_classes() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]])
    targets = torch.tensor([0, 2, 1])
    assert torch.equal(loss_of(logits, targets), F.cross_entropy(logits, targets))
    right, counted = correct_of(logits, targets)
    assert (right.item(), counted) == (2, 3)


def test_loss_and_accuracy_of_tokens() -> None:
    """Every position counts the same: by hand, the mean of -log softmax at the target."""
    logits = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[0, 1, 2, 3], [4, 3, 2, 1]])
    chosen = logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1))
    torch.testing.assert_close(loss_of(logits, targets), -chosen.mean())
    logits.scatter_(-1, targets.unsqueeze(-1), 100.0)
    logits[1, 2, 0] = 200.0
    right, counted = correct_of(logits, targets)
    assert (right.item(), counted) == (7, 8)


def test_models_that_know_nothing_begin_at_the_loss_of_guessing() -> None:
    tokens = some_tokens(8, 12)
    for config, targets, outcomes in [(DECODER, shifted(tokens), 50), (CLASSIFIER, tokens[:, 0] % 3, 3)]:
        assert loss_of(build(config, TOKENS)(tokens), targets).item() == pytest.approx(
            math.log(outcomes), rel=0.05
        )


# What is refused


@needs_transformers
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"architecture": "brt"},
            r"^workloads\.model\.architecture: transformers does not have 'brt'; did you mean .*\bbert\b",
        ),
        (
            {"architecture": "vit"},
            r"^workloads\.model\.architecture: vit cannot be trained with task: classify",
        ),
        (
            {"architecture": "distilbert", "task": "next-token"},
            r"^workloads\.model\.architecture: distilbert cannot be trained with task: next-token",
        ),
        (
            {"architecture": "xlnet", "task": "next-token"},
            r"^workloads\.model\.architecture: xlnet cannot be trained with task: next-token",
        ),
        (
            {"architecture": "t5"},
            r"^workloads\.model\.architecture: t5 cannot be trained with task: classify",
        ),
        (
            {"settings": {"num_hiden_layers": 2}},
            r"^workloads\.model\.settings\.num_hiden_layers: bert has no such .*; did you mean num_hidden_layers",
        ),
        ({"settings": {"n_layer": 2}}, r"^workloads\.model\.settings\.n_layer: bert has no such setting"),
        ({"settings": {"vocab_size": 9}}, r"^workloads\.model\.settings\.vocab_size: follows from the data"),
        ({"settings": {"pad_token_id": 9}}, r"^workloads\.model\.settings\.pad_token_id: follows from the data"),
        ({"settings": {"dtype": "bfloat16"}}, r"^workloads\.model\.settings\.dtype: follows from the precision"),
        ({"settings": {"hidden_size": "wide"}}, r"^workloads\.model\.settings: .*hidden_size.*expected int"),
        (
            {"settings": {"hidden_size": 15, "num_attention_heads": 2}},
            r"^workloads\.model\.settings: .*not a multiple of the number of attention heads",
        ),
        ({"settings": {"hidden_act": "bend"}}, r"^workloads\.model\.settings: .*bend"),
        (
            {"settings": {"max_position_embeddings": 8}},
            r"^workloads\.model\.settings\.max_position_embeddings: 8 positions are too few for .*: 12$",
        ),
        (
            {"architecture": "roberta", "settings": {"max_position_embeddings": 12, "num_hidden_layers": 1}},
            r"^workloads\.model\.settings\.max_position_embeddings: 13 positions are needed",
        ),
    ],
)
def test_what_transformers_would_ignore_or_trip_over_is_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        build({**BERT, **change}, TOKENS)


@needs_transformers
def test_other_names_of_a_setting_are_taken() -> None:
    settings = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 20}
    model = build({**GPT2, "settings": {**settings, "attn_implementation": "eager"}}, TOKENS)
    assert len(blocks_of(model)) == 1
    assert model.model.config.n_positions == 20
    assert model.model.config._attn_implementation == "eager"


@needs_transformers
def test_positions_reach_to_the_end_of_a_text() -> None:
    long = {**TOKENS, "sequence_length": 1030}
    assert build(GPT2, long)(some_tokens(1, 1030)).shape == (1, 1030, 50)
    assert build(GPT2, TOKENS).model.config.n_positions == 1024


def test_without_transformers_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UserError, match=r"^workloads\.model\.type: .*pip install 'scalestudy\[huggingface\]'"):
        build(BERT, TOKENS)


def test_the_task_of_a_hugging_face_model_decides_on_the_data() -> None:
    rest = {"optimizer": {"type": "sgd"}, "batch_size": 8, "epochs": 1}
    stream = {"type": "text-file", "path": "book.txt"}
    assert Workload.model_validate({"model": GPT2, "data": stream, **rest}).model.takes == {"stream"}
    with pytest.raises(ValueError, match="hugging-face with task: classify takes texts; text-file gives stream"):
        Workload.model_validate({"model": BERT, "data": stream, **rest})
