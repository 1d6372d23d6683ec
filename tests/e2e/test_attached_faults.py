"""Scripts that fork, or use process groups in unusual ways, and the outcomes of their runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_scripts import HEAD, ended, run_script
from scalestudy.record.observation import TRAINING_PHASES


def test_a_child_that_the_script_forks_is_seen_to_train(tmp_path: Path) -> None:
    body = """
        child = os.fork()
        if child == 0:
            train(epochs=1)
            sys.exit(0)
        os.waitpid(child, 0)
    """
    found = run_script(tmp_path, body, samples=512, run_to_end=True)
    assert ended(found) == ("ok", "")
    assert found.record.totals.steps == 512 / 8


@pytest.mark.slow
def test_a_fork_in_the_middle_of_the_training_does_not_count_twice(tmp_path: Path) -> None:
    """As where a checkpoint is written by a child that has a copy of everything."""
    body = """
        children = []
        def save(step):
            if step % 20 == 0:
                children.append(os.fork())
                if children[-1] == 0:
                    os._exit(0)
        train(epochs=1, after=save)
        for child in children:
            os.waitpid(child, 0)
    """
    found = run_script(tmp_path, body, samples=1024, run_to_end=True)
    assert ended(found) == ("ok", "")
    assert found.record.totals.steps == 1024 / 8


def test_an_error_before_torch_is_imported_is_told(tmp_path: Path) -> None:
    found = run_script(tmp_path, "", head="import json\njson.loads('{')\n")
    outcome, reason = ended(found)
    assert outcome == "failed"
    assert "JSONDecodeError" in reason
    assert "train.py:2" in reason


@pytest.mark.slow
def test_an_error_after_the_training_is_told(tmp_path: Path) -> None:
    body = """
        train(epochs=1)
        model.no_such_thing
    """
    outcome, reason = ended(run_script(tmp_path, body, samples=256, run_to_end=True))
    assert outcome == "failed"
    assert reason.startswith("rank 0: AttributeError")


@pytest.mark.slow
def test_a_group_of_the_script_s_own_is_no_hindrance(tmp_path: Path) -> None:
    """DDP over a group that is not the default one; another group is made, used and destroyed."""
    head = HEAD.replace(
        "DistributedDataParallel(model)",
        "DistributedDataParallel(model, process_group=torch.distributed.new_group([0, 1]))",
    )
    body = """
        other = torch.distributed.new_group([0, 1])
        torch.distributed.barrier(other)
        torch.distributed.destroy_process_group(other)
        train()
    """
    found = run_script(tmp_path, body, ranks=2, head=head)
    assert ended(found) == ("ok", "")
    assert set(found.steps["rank"]) == {0, 1}


def test_ranks_in_an_environment_of_their_own_are_not_attached_and_that_is_said(tmp_path: Path) -> None:
    """The script starts the training in a process that is given no variables."""
    body = """
        import subprocess
        if len(sys.argv) < 3:
            subprocess.run([sys.executable, __file__, str(batch), "again"], env={}, check=True)
        else:
            train(epochs=1)
    """
    outcome, reason = ended(run_script(tmp_path, body, samples=256, run_to_end=True))
    assert outcome == "failed"
    assert reason.startswith(("not attached", "no training step was seen"))
    assert "env -i" in reason


def test_what_is_no_text_in_the_log_is_no_hindrance(tmp_path: Path) -> None:
    body = """
        sys.stdout.buffer.write(bytes(range(256)))
        train(epochs=1)
        raise ValueError("\\udcff and \\u2603")
    """
    outcome, reason = ended(run_script(tmp_path, body, samples=256, run_to_end=True))
    assert outcome == "failed"
    assert reason.startswith("rank 0: ValueError")
    assert "\u2603" in reason


@pytest.mark.slow
def test_steps_are_seen_where_the_script_has_closed_its_files(tmp_path: Path) -> None:
    """As daemons do: every descriptor that it did not open itself."""
    body = """
        os.closerange(3, 256)
        train(epochs=1)
    """
    found = run_script(tmp_path, body, samples=1024, run_to_end=True)
    assert ended(found) == ("ok", "")
    assert (found.steps["phase"].isin(TRAINING_PHASES)).sum() == 1024 / 8
