"""NCCL's message about a failure is in the reason as a whole. The texts are from public issues."""

from __future__ import annotations

import torch.distributed as dist
from scalestudy.errors import WHOLE_LIMIT, whole_with_type
from scalestudy.launch.nccl_log import LIMIT, nccl_warnings, with_nccl_warnings

# torch 2.4 (verl-project/verl#161), with the stack that torch before 2.1 put into its message (NVIDIA/nccl#1241).
DUPLICATE = """\
NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run with NCCL_DEBUG=WARN for \
details), NCCL version 2.20.5
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
Last error:
Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10
"""
STACK = """\
Exception raised from getNCCLComm at ../c10d/ProcessGroupNCCL.cpp:1287 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x6b
"""
# NCCL 2.2x with NCCL_DEBUG=INFO.
LOG = """\
frodo:33631:33631 [0] NCCL INFO NET/IB : No device found.
frodo:33793:33885 [1] init.cc:573 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 83000
[2026-01-01 00:00:00] frodo:33631:9 [0] socket.cc:540 NCCL WARN socketStartConnect: Connect to 10.0.0.2<45> failed
frodo:33793:33885 [1] init.cc:573 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 83000
"""
WARNED = "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 83000"


def test_the_last_error_of_nccl_is_kept_and_the_stack_is_not() -> None:
    said = whole_with_type(dist.DistBackendError(DUPLICATE + STACK))
    assert said == (
        "DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run"
        " with NCCL_DEBUG=WARN for details), NCCL version 2.20.5; ncclInvalidUsage: This usually reflects invalid"
        " usage of NCCL library.; Last error: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10"
    )


def test_a_message_that_is_too_long_keeps_its_end() -> None:
    said = whole_with_type(RuntimeError("begin " + "x" * 5000 + " the last error"))
    assert len(said) == len("RuntimeError: ") + WHOLE_LIMIT
    assert said.startswith("RuntimeError: begin ")
    assert said.endswith(" the last error")
    assert whole_with_type(RuntimeError()) == "RuntimeError: RuntimeError"


def test_what_nccl_warned_of_is_said_once() -> None:
    connect = "socketStartConnect: Connect to 10.0.0.2<45> failed"
    assert nccl_warnings(LOG) == [WARNED, connect]
    assert with_nccl_warnings("it hung", LOG) == f"it hung; NCCL warned: {WARNED}; {connect}"
    assert with_nccl_warnings(f"it failed: {WARNED}", LOG) == f"it failed: {WARNED}; NCCL warned: {connect}"
    assert with_nccl_warnings("it hung", "NCCL INFO all is well") == "it hung"
    long = with_nccl_warnings("", "h:1:1 [0] a.cc:1 NCCL WARN " + "y" * 5000)
    assert len(long) == len("; NCCL warned: ") + LIMIT
