"""A study file is accepted as a whole, or refused with the key, the fault and what would be right."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from conftest import ROOT, mlp_workload, small_content
from scalestudy.errors import UserError
from scalestudy.launch.foreign.start import script_command
from scalestudy.reference.config import readme_text, schema_text
from scalestudy.study.config.load import load_study, parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import CommandSpec


def changed(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The content with the value at a dotted path replaced."""
    content = deepcopy(content)
    *parents, last = path.split(".")
    node = content
    for key in parents:
        node = node[key]
    node[last] = value
    return content


def threads(value: str, **host: Any) -> dict[str, Any]:
    """A host that sets the threads of a library itself."""
    return {"environment": {"OMP_NUM_THREADS": value}} | host


REFUSED = [
    ("repeatz", 3, "repeatz: unknown key; did you mean repeats?"),
    ("repeats", 0, "repeats: 1 or more is expected, not 0"),
    ("repeats", "three", "repeats: a whole number is expected, not 'three'"),
    ("study", "My Study", "study: "),
    ("scales", [], "scales: "),
    ("scales", ["4"], "scales.0: a scale is NODESxDEVICES, such as 1x4"),
    ("scales", [4], "one node with four devices; write 1x4 for 4 devices of one node"),
    ("scales", ["1x2", "1x2"], "repeated: 1x2"),
    ("variants.ddp.strategy", "other", "variants.ddp.strategy: other is for scripts and imported runs only"),
    ("variants.ddp.stratgy", "ddp", "variants.ddp.stratgy: unknown key; did you mean strategy?"),
    (
        "variants.ddp.strategy",
        "fsdp3",
        "variants.ddp.strategy: 'single', 'ddp', 'fsdp' or 'other' is expected, not 'fsdp3'",
    ),
    ("variants.ddp.base", "plain", "variants.ddp.base: 'plain' is not a single variant; the study has single"),
    ("host", threads("4", device="cpu"), "host.environment.OMP_NUM_THREADS: 4 threads are more than the cores"),
    (
        "host",
        threads("4", device="cpu"),
        "(host.cores_per_rank: 1); use 1 or fewer, or set host.cores_per_rank: 4",
    ),
    ("host", threads("9"), "(host.cores_per_rank: unset, so at most 8); use 8 or fewer, or set"),
    ("host", threads("many"), "host.environment.OMP_NUM_THREADS: 'many' is not a number of threads"),
    ("host", threads("0", pin=False), "a whole number of 1 or more is expected"),
    ("workloads.mlp.batch_size", 33, "32 or 34 would"),
    ("workloads.mlp.batch_size", 2000, "workloads.mlp.batch_size: 2000 is more than the 1438 training samples"),
    ("workloads.mlp.batch_size", 800, "at most 719 would do"),
    ("workloads.mlp.model.type", "resnet", "workloads.mlp.model: "),
    ("workloads.mlp.model.hidden", 3, "workloads.mlp.model.hidden: unknown key"),
    ("workloads.mlp.model.hidden_dim", -1, "workloads.mlp.model.hidden_dim: "),
    ("workloads.mlp.data.validation_fraction", 1.5, "workloads.mlp.data.validation_fraction: "),
    ("workloads.mlp.optimizer.learning_rate", float("nan"), "workloads.mlp.optimizer.learning_rate: "),
]


@pytest.mark.parametrize(("path", "value", "message"), REFUSED, ids=[f"{p}={v}" for p, v, _ in REFUSED])
def test_a_wrong_key_or_value_is_refused_by_its_path(
    content: dict[str, Any], path: str, value: Any, message: str
) -> None:
    with pytest.raises(UserError) as caught:
        parse_study(changed(content, path, value), source="study.yaml")
    text = str(caught.value)
    assert text.startswith("study.yaml: the study is refused\n")
    assert message in text


def test_as_many_threads_as_cores_are_accepted_and_more_where_ranks_are_not_bound(content: dict[str, Any]) -> None:
    """Where `cores_per_rank` is unset, a rank on a GPU gets up to eight cores."""
    bound = [
        threads("3", cores_per_rank=4),
        threads("4", cores_per_rank=4),
        threads("4", device="cuda"),
        threads("8"),
    ]
    for host in (*bound, threads("16", pin=False)):
        study = parse_study(content | {"host": host}, source="x")
        assert study.host.environment == host["environment"]


def test_a_missing_key_is_named(content: dict[str, Any]) -> None:
    del content["workloads"]["mlp"]["optimizer"]
    with pytest.raises(UserError, match=r"workloads\.mlp\.optimizer: missing: this key is required"):
        parse_study(content, source="x")


def test_two_single_variants_need_a_named_base(content: dict[str, Any]) -> None:
    content["variants"]["plain"] = {"strategy": "single"}
    with pytest.raises(UserError, match=r"variants\.ddp\.base: name the single .* has single, plain"):
        parse_study(content, source="x")
    content["variants"]["ddp"]["base"] = "plain"
    assert parse_study(content, source="x").variants["ddp"].base == "plain"


def test_files_that_are_no_study(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such study file"):
        load_study(tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_text("a: [1")
    with pytest.raises(UserError, match="not valid YAML"):
        load_study(bad)
    bad.write_text("- a list")
    with pytest.raises(UserError, match="a study file is a mapping"):
        load_study(bad)


def test_schema_and_documentation_are_in_step_with_the_model() -> None:
    """After a change of the model: `scalestudy stage schema`."""
    assert (ROOT / "workflow/schemas/config.schema.json").read_text(encoding="utf-8") == schema_text()
    assert (ROOT / "config/README.md").read_text(encoding="utf-8") == readme_text()


def test_the_default_study_satisfies_schema_and_model() -> None:
    study = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(study, json.loads(schema_text()))
    assert load_study(ROOT / "config/config.yaml").name == "digits"


def test_every_field_of_the_config_is_documented() -> None:
    rows = [line for line in readme_text().splitlines() if line.startswith("| `")]
    assert len(rows) > 30
    undocumented = [row for row in rows if row.rstrip().endswith("|  |")]
    assert undocumented == []


MEANINGLESS = [
    ("repeats", True, "repeats: a whole number is expected, not true"),
    ("repeats", "3", "repeats: a whole number is expected, not '3'; leave out the quotes"),
    ("repeats", "1e30", "repeats: a whole number is expected, not '1e30'; write all its digits"),
    ("repeats", 3.5, "repeats: a whole number is expected, not 3.5"),
    ("repeats", 10**6, "most_launches: 4 points x 1000000 repeats are 4000000 runs, and 10000 are allowed"),
    ("seed", -1, "seed: 0 or more is expected, not -1"),
    ("seed", 10**30, "seed: a number below 9007199254740992 is expected"),
    ("profile", "yes", "profile: true or false is expected, not 'yes'"),
    ("profile", 1, "profile: true or false is expected, not 1"),
    ("description", 5, "description: text is expected, not 5; in quotes it is text"),
    ("scales", "1x2", "scales: a list is expected, not '1x2'"),
    ("scales", ["1x99999"], "scales.0: 99999 devices of a node are more than any machine has; at most 1000"),
    ("scales", [f"{'9' * 30}x2"], "nodes are more than any machine has"),
    ("variants", [], "variants: a mapping of keys is expected, not a list"),
    ("workloads.mlp", "mlp", "workloads.mlp: a mapping of keys is expected, not 'mlp'"),
    ("workloads.mlp.model", {}, "workloads.mlp.model: type: missing: this key is required"),
    ("workloads.mlp.model.hidden_dim", 10**12, "workloads.mlp.model.hidden_dim: 1000000000000 is far more than"),
    ("workloads.mlp.batch_size", True, "workloads.mlp.batch_size: a whole number is expected, not true"),
    ("workloads.mlp.optimizer.learning_rate", False, "learning_rate: a number is expected, not false"),
    ("workloads.mlp.optimizer.learning_rate", "0.1", "a number is expected, not '0.1'; leave out the quotes"),
    ("workloads.mlp.optimizer.learning_rate", float("inf"), "a finite number is expected, not inf"),
    ("host", {"environment": {"A=B": "1"}}, "host.environment.A=B: is not a name of an environment variable"),
    ("host", {"environment": {"": "1"}}, "is not a name of an environment variable"),
    (
        "host",
        {"environment": {"A": "\0"}},
        "host.environment.A: a value of an environment variable cannot contain a NUL",
    ),
    ("host", {"environment": {"A": 1}}, "host.environment.A: text is expected, not 1; in quotes it is text"),
    ("workloads.mlp.epochs", 0, "target_accuracy: nothing is validated with epochs: 0"),
]


@pytest.mark.parametrize(
    ("path", "value", "message"), MEANINGLESS, ids=[f"{p}={v!r}"[:60] for p, v, _ in MEANINGLESS]
)
def test_what_means_nothing_is_refused_in_our_words(
    content: dict[str, Any], path: str, value: Any, message: str
) -> None:
    content["workloads"]["mlp"]["target_accuracy"] = 0.9
    with pytest.raises(UserError) as caught:
        parse_study(changed(content, path, value), source="study.yaml")
    text = str(caught.value)
    assert message in text
    assert "nput should" not in text


def test_all_mistakes_are_told_at_once(content: dict[str, Any]) -> None:
    content = changed(content, "workloads.mlp.batch_size", True) | {
        "repeatz": 3,
        "seed": "1",
        "time_limit_min": 1e30,
    }
    with pytest.raises(UserError) as caught:
        parse_study(content, source="study.yaml")
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "time_limit_min",
        "seed",
        "workloads.mlp.batch_size",
        "repeatz",
    ]


def test_a_number_with_a_power_of_ten_is_one_though_yaml_1_1_says_text(content: dict[str, Any]) -> None:
    study = parse_study(changed(content, "workloads.mlp.optimizer.learning_rate", "1e-3"), source="x")
    assert study.workloads["mlp"].optimizer.learning_rate == 0.001


def test_a_larger_study_is_planned_where_it_is_meant(content: dict[str, Any]) -> None:
    assert parse_study(content | {"repeats": 3000, "most_launches": 12000}, source="x").repeats == 3000


def test_a_sweep_without_end_is_refused_before_it_is_written_out(content: dict[str, Any]) -> None:
    sweep = {f"ddp.key{n}": list(range(100)) for n in range(8)}
    with pytest.raises(UserError, match=r"variants.ddp.sweep: gives 10000000000000000 entries, and 1000 are"):
        parse_study(changed(content, "variants.ddp.sweep", sweep), source="x")


SAID_PLAINLY: list[tuple[str, Any, str]] = [
    ("study", "a_b", "study: lower-case letters, digits and hyphens, such as a-b, are expected, not 'a_b'"),
    ("study", "a" * 80, "study: text of 60 characters or fewer is expected, not 'aaa"),
    ("repeats", 64.0, "repeats: a whole number is expected, not 64.0; write 64"),
    ("repeats", -(10**12), "repeats: 1 or more is expected, not -1000000000000"),
    ("time_limit_min", float("inf"), "time_limit_min: a finite number is expected, not inf"),
    ("report", {"confidence": 95}, "report.confidence: a number below 1 is expected, not 95"),
    ("report", {"forecast_scales": ["8"]}, "report.forecast_scales.0: a scale is NODESxDEVICES"),
    ("scales", ["2"], "scales.0: a scale is NODESxDEVICES"),
    (
        "scales",
        ["1x3", "1x5"],
        "workloads.mlp.batch_size: 32 does not divide among the 3 ranks of scale 1x3; 30 or 45",
    ),
    (
        "workloads.mlp.data",
        {"type": "cifar", "path": "/x", "url": "https://a.b/c.tgz", "sha256": "0" * 64},
        "workloads.mlp.data.path: url is given too; leave out one of them",
    ),
    (
        "workloads.mlp.data",
        {"type": "cifar", "url": "ftp://x", "sha256": "0" * 64},
        "workloads.mlp.data.url: an address such as https://example.org/data.tar.gz is expected, not 'ftp://x'",
    ),
    ("variants.ddp.ACCUMULATION_SYNC", True, "unknown key; did you mean accumulation_sync?"),
    ("variants.ddp.sweep", {"accumulation_steps": [2, 2]}, "sweep.accumulation_steps: 2 is listed twice"),
    (
        "workloads.mlp.sweep",
        {"optimizer.learning_rate": [0.1, -0.1]},
        "workloads.mlp-learning-rate-minus-0-1.optimizer.learning_rate: a number above 0 is expected, not -0.1",
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "message"), SAID_PLAINLY, ids=[f"{p}={v}"[:60] for p, v, _ in SAID_PLAINLY]
)
def test_a_refusal_has_one_line_in_plain_words(
    content: dict[str, Any], path: str, value: Any, message: str
) -> None:
    with pytest.raises(UserError) as caught:
        parse_study(changed(content, path, value), source="study.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert message in lines[1]
    assert "^" not in lines[1]


def test_words_in_two_pairs_of_braces_are_the_script_s_own(content: dict[str, Any]) -> None:
    """`--filename {epoch}-{loss}` is an option of a script, and JSON has braces of its own."""
    command = 'train.py --batch {batch_per_rank} --name {{epoch}}-{{out}} --out {out} --json {"a":{"b":1}}'
    content["workloads"] = {"own": {"command": command.replace('"', '\\"'), "batch_size": 64}}
    plan = make_plan(parse_study(content, source="x"))
    spec = next(spec for spec in plan.runs.values() if spec.world_size == 2)
    assert isinstance(spec, CommandSpec)
    script = script_command(spec, Path("/run"))
    assert script[-7:] == ["32", "--name", "{epoch}-{out}", "--out", "/run/out", "--json", '{"a":{"b":1}}']
    content["workloads"]["own"]["command"] = "train.py --name {epoch}"
    with pytest.raises(
        UserError, match=r"\{epoch\} is not a placeholder; .* Write \{\{epoch\}\} for braces of the"
    ):
        parse_study(content, source="x")


def with_rate(rate: float, **top: Any) -> dict[str, Any]:
    workload = mlp_workload()
    workload["optimizer"]["learning_rate"] = rate
    return small_content(workloads={"mlp": workload}, **top)


def test_a_key_lifts_the_limits_of_large_numbers() -> None:
    with pytest.raises(UserError, match="10000 or less is expected; accept_large_numbers: true accepts it"):
        parse_study(with_rate(20_000), source="x")
    assert parse_study(with_rate(20_000, accept_large_numbers=True), source="x").accept_large_numbers


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (with_rate(0.1, accept_large_numbers=True), "accept_large_numbers: has no effect"),
        (with_rate(1e10, accept_large_numbers=True), "10000000000.0 is more than any machine can run"),
    ],
    ids=["nothing is large", "no machine has that"],
)
def test_that_key_where_it_lifts_nothing(content: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_study(content, source="x")


def test_ranks_of_a_script_may_have_another_strategy(content: dict[str, Any]) -> None:
    """DeepSpeed, Horovod, or an all-reduce of the script itself: neither DDP nor FSDP."""
    content["variants"]["ddp"] = {"strategy": "other"}
    content["workloads"] = {"own": {"command": "train.py --batch {batch_per_rank}", "batch_size": 64}}
    runs = make_plan(parse_study(content, source="x")).runs.values()
    assert {spec.strategy for spec in runs} == {"single", "other"}
