"""No record contains secrets of the environment, whichever process printed them, and no study may contain one."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from builders import observation
from conftest import small_content
from scalestudy.errors import UserError
from scalestudy.launch.place import put_in_place
from scalestudy.record.host.environment import host_environment
from scalestudy.record.observation import read_record
from scalestudy.record.parts import complete, describe, read_parts, write_data
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.secrets import is_secret, without_secrets

SECRETS = (
    *("HF_TOKEN", "GITHUB_TOKEN", "WANDB_API_KEY", "OPENAI_APIKEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"),
    *("PGPASSWORD", "MYSQL_PASSWD", "SSH_PASSPHRASE", "CLIENT_SECRETS", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("hf_token", "NCCL_SECRET", "TORCH_HUB_TOKEN", "CUDA_LICENSE_KEY"),
)
NO_SECRETS = (
    *("SSH_KEY_DIR", "AWS_SHARED_CREDENTIALS_FILE", "MY_TOKEN_PATH"),
    *("PATH", "TOKENIZERS_PARALLELISM", "NCCL_IB_PKEY", "KEYBOARD", "PWD", "OMP_NUM_THREADS", "NCCL_DEBUG"),
    *("PYTORCH_CUDA_ALLOC_CONF", "SECRETARY", "SLURM_JOB_ID", "XDG_SESSION_ID"),
)
VALUE = "s3cr3t-v4lue/+&="


def test_names_tell_secrets() -> None:
    assert [name for name in SECRETS if not is_secret(name)] == []
    assert [name for name in NO_SECRETS if is_secret(name)] == []


def test_a_record_and_its_log_hold_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank printed it, died of it, and had it in a variable that bears on speed."""
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nshort\n-----END KEY-----"
    for name in ("HF_TOKEN", "NCCL_SECRET"):
        monkeypatch.setenv(name, VALUE)
    monkeypatch.setenv("SSH_PRIVATE_KEY", key)
    monkeypatch.setenv("SHORT_KEY", "1")
    spec = next(iter(make_plan(parse_study(small_content(), source="x")).runs.values()))
    partial, final = tmp_path / "runs" / ".partial" / spec.run_id, tmp_path / "runs" / spec.run_id
    partial.mkdir(parents=True)
    log = f"1 step\nGET https://x/?token={VALUE}\nMIIEvQIBADANBgkqhkiG9w0\n"
    (partial / "log.txt").write_bytes(log.encode() + b"\xff\n")
    report = observation(spec, [[0.1]] * spec.world_size).record.ranks[0]
    report = report.model_copy(update={"outcome": "failed", "reason": f"HTTPError: 401 for {VALUE}"})
    parts = read_parts(partial, world_size=spec.world_size)
    write_data(partial, parts)
    environment = host_environment() | {"warnings": [{"kind": "x", "text": VALUE}], VALUE: 1}
    assert VALUE not in json.dumps(host_environment())
    record = describe(
        *(spec, parts, "failed", f"rank 0: {VALUE}"),
        code="0" * 12, started_at="2026-01-01T00:00:00+00:00", environment=environment, log=log,
    )  # fmt: skip
    complete(partial, record.model_copy(update={"ranks": (report,)}))
    put_in_place(partial, final, tmp_path)
    for path in final.iterdir():
        content = path.read_bytes()
        assert VALUE.encode() not in content, path.name
        assert b"MIIEvQIBADANBgkqhkiG9w0" not in content, path.name
    read = read_record(final)
    assert read.reason in ("rank 0: [value of HF_TOKEN]", "rank 0: [value of NCCL_SECRET]")
    assert b"1 step\nGET https://x/?token=[value of" in (final / "log.txt").read_bytes()
    assert (final / "log.txt").read_bytes().endswith(b"\xff\n"), "what is no text stays"
    assert read.run_id == spec.run_id


def test_nothing_is_replaced_where_there_is_no_secret() -> None:
    content = {"a": ["1", {"b": 2.5, "c": None}], "d": b"x"}
    assert without_secrets(copy.deepcopy(content), []) == content


@pytest.mark.parametrize("place", ["host", "variant", "command"])
def test_a_study_with_a_secret_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", VALUE)
    content = small_content()
    path = {"host": "host.environment.HF_TOKEN", "variant": "variants.ddp.environment.WANDB_API_KEY"}.get(place)
    if place == "host":
        content["host"] = {"environment": {"HF_TOKEN": "abc", "TOKENIZERS_PARALLELISM": "false"}}
    elif place == "variant":
        content["variants"]["ddp"]["environment"] = {"WANDB_API_KEY": "abc"}
    else:
        content["workloads"]["mlp"] = {"command": ["train.py", f"--token={VALUE}"], "batch_size": 4}
        path = "workloads.mlp.command"
    with pytest.raises(UserError, match=path) as refused:
        parse_study(content, source="x")
    assert VALUE not in str(refused.value)
