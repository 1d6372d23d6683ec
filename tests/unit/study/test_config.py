"""A study file is accepted whole or refused with the key, what is wrong, and what would be right."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from conftest import ROOT
from scalestudy.errors import UserError
from scalestudy.reference.config import readme_text, schema_text
from scalestudy.study.config.load import load_study, parse_study


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
    ("repeats", 0, "repeats: input should be greater than or equal to 1, not 0"),
    ("repeats", "three", "repeats: input should be a valid integer"),
    ("study", "My Study", "study: "),
    ("scales", [], "scales: "),
    ("scales", ["4"], "scales.0: a scale is NODESxDEVICES, such as 1x4"),
    ("scales", ["1x2", "1x2"], "repeated: 1x2"),
    ("variants.ddp.stratgy", "ddp", "variants.ddp.stratgy: unknown key; did you mean strategy?"),
    (
        "variants.ddp.strategy",
        "fsdp3",
        "variants.ddp.strategy: input should be 'single', 'ddp' or 'fsdp', not 'fsdp3'",
    ),
    ("variants.ddp.base", "plain", "variants.ddp.base: 'plain' is no single variant; the study has single"),
    ("host", threads("4"), "host.environment.OMP_NUM_THREADS: 4 threads are more than the cores"),
    ("host", threads("4"), "(host.cores_per_rank: unset); 1 or less would do, or host.cores_per_rank: 4"),
    ("host", threads("many"), "host.environment.OMP_NUM_THREADS: 'many' is no number of threads"),
    ("host", threads("0", pin=False), "a whole number of 1 or more would do"),
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
    for host in (threads("3", cores_per_rank=4), threads("4", cores_per_rank=4), threads("8", pin=False)):
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
