"""What partitions have, from the lines of sinfo, and what no node of them can give."""

from __future__ import annotations

import pytest
from scalestudy.chain.slurm.advice import key_for, why_it_waits
from scalestudy.chain.slurm.partitions import Asked, Nodes, Partition, gpus_in, in_partitions, parse_partitions
from scalestudy.chain.slurm.submission import sbatch_words

# As `sinfo --all --exact --noheader --format=%P|%D|%c|%m|%G|%l|%s` prints it (SLURM 22.05).
SINFO = """\
main*|2|4|8000|(null)|10:00:00|1-infinite
main*|1|64|500000|gpu:a100:8(S:0-1)|10:00:00|1-infinite
short|3|8|16000|gpu:4|30:00|1-2
long|1|8|16000|gpu:a100:2,gpu:h100:2,shard:8|2-01:00:00|1
free|1|8|16000|gpu|infinite|1-infinite
"""


def test_partitions_as_sinfo_lists_them() -> None:
    found = parse_partitions(SINFO)
    assert set(found) == {"", "main", "short", "long", "free"}
    assert found[""] == found["main"]
    assert found["main"].kinds == (Nodes(2, 4, 8000, 0), Nodes(1, 64, 500000, 8))
    assert found["short"] == Partition("short", (Nodes(3, 8, 16000, 4),), minutes=30, most_nodes=2)
    assert (found["long"].minutes, found["long"].kinds[0].gpus) == (2 * 1440 + 60, 4)
    assert (found["free"].minutes, found["free"].kinds[0].gpus) == (None, 1)


@pytest.mark.parametrize("line", ["", "PARTITION", "main|2|4+|8000+|(null)|infinite|1-infinite", "a|b|c|d|e|f|g"])
def test_lines_that_say_nothing_for_sure_are_left_out(line: str) -> None:
    assert parse_partitions(line) == {}


@pytest.mark.parametrize(
    ("asked", "names", "said"),
    [
        (Asked(memory_mb=16000), "", None),  # one kind of node has it
        (Asked(nodes=2, memory_mb=16000), "", "2 nodes with 16000 MB of memory, 0 CPUs and 0 GPUs on each"),
        (
            Asked(memory_mb=600000),
            "main",
            "600000 MB of memory per node, but the largest node of partition main has 500000",
        ),
        (Asked(cpus=16), "short", "16 CPUs per node, but the largest node of partition short has 8"),
        (Asked(gpus=8), "short", "8 GPUs per node, but the largest node of partition short has 4"),
        (Asked(minutes=31), "short", "31 min, but partition short allows 30"),
        (Asked(nodes=3), "short", "3 nodes, but partition short allows up to 2 per job"),
        (Asked(nodes=4), "main", "4 nodes, but partition main allows up to 3 per job"),
        (Asked(minutes=31), "short,main", None),  # SLURM takes the one that fits
        (Asked(), "gone", "partition gone does not exist (there are: free, long, main, short)"),
        (Asked(minutes=10**6), "free", None),
    ],
)
def test_what_no_node_can_give(asked: Asked, names: str, said: str | None) -> None:
    found = in_partitions(asked, names, parse_partitions(SINFO))
    assert (said is None) == (not found)
    assert not said or said in found[0]


def test_nothing_is_refused_where_slurm_does_not_answer() -> None:
    assert in_partitions(Asked(nodes=100), "gone", {}) == []


@pytest.mark.parametrize(
    ("gres", "count"), [("(null)", 0), ("gpu:4", 4), ("gpu:a100:8(S:0-1)", 8), ("gpu", 1), ("shard:8", 0)]
)
def test_gpus_of_a_node(gres: str, count: int) -> None:
    assert gpus_in(gres) == count


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("Memory specification can not be satisfied; Requested node configuration is not available", "mem_mb"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "allocation_limit_min"),
        ("Invalid account or account/partition combination specified", "slurm_account"),
        ("invalid partition specified: nowhere; Invalid partition name specified", "slurm_partition"),
        ("Invalid qos specification", "qos"),
        ("Invalid feature specification", "constraint"),
        ("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", "jobs in"),
        ("More processors requested than permitted", "host.cores_per_rank"),
        ("SLURM job 7 ended as TIMEOUT (TimeLimit)", "time_limit_min"),
        ("SLURM job 7 ended as OUT_OF_MEMORY", "mem_mb"),
        ("SLURM job 7 ended as CANCELLED", ""),
    ],
)
def test_the_key_that_would_change_it(said: str, key: str) -> None:
    assert key_for(said).startswith(key) if key else key_for(said) == ""


def test_why_a_job_waits() -> None:
    assert why_it_waits("7", "Priority") == "waiting in the queue (Priority)"
    assert why_it_waits("7", "JobHeldUser") == "held (JobHeldUser). To continue: scontrol release 7"
    assert why_it_waits("7", "PartitionTimeLimit").startswith(
        "waiting, and cannot start unless this is changed (PartitionTimeLimit)."
        " What to change: allocation_limit_min"
    )
    assert why_it_waits("7", "PartitionDown") == "waiting (PartitionDown)"


def test_slurms_own_words_in_a_message_of_the_plug_in() -> None:
    message = (
        "SLURM sbatch failed. The error message was 'sbatch: error: Memory specification can not be satisfied\n"
        "sbatch: error: Batch job submission failed: Requested node configuration is not available'.\n"
        "    sbatch call:\n        sbatch --parsable\n"
    )
    assert sbatch_words(message) == (
        "Memory specification can not be satisfied; Batch job submission failed:"
        " Requested node configuration is not available"
    )
