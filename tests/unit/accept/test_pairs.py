"""The covering array: every possible pair occurs, impossible pairs are listed with their reason."""

from __future__ import annotations

import itertools
from functools import partial

import pytest
from scalestudy.accept.options import OPTIONS, cost_s, refusals, variant_of, words_of
from scalestudy.accept.pairs import cover, pairs_of
from scalestudy.study.config.variants import Variant


@pytest.mark.parametrize("cuda", [False, True])
def test_every_pair_occurs_or_is_listed_as_impossible(cuda: bool) -> None:
    found = cover(OPTIONS, partial(refusals, cuda=cuda, compiler=True), cost_s)
    covered = {pair for row in found.rows for pair in pairs_of(row)}
    every = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(OPTIONS, 2)
        for x, y in itertools.product(OPTIONS[a], OPTIONS[b])
    }
    assert covered | set(found.impossible) == every
    assert not covered & set(found.impossible)
    assert all(found.impossible.values())
    assert len(found.rows) <= 36, "with the other launches of the stage at most 40"


def test_the_config_takes_every_row_and_refuses_no_more_than_the_rules() -> None:
    found = cover(OPTIONS, partial(refusals, cuda=True, compiler=True), cost_s)
    for row in found.rows:
        Variant.model_validate(variant_of(row))
    assert len({words_of(row) for row in found.rows}) == len(found.rows)


def test_the_same_options_give_the_same_rows() -> None:
    rule = partial(refusals, cuda=False, compiler=True)
    assert cover(OPTIONS, rule, cost_s).rows == cover(OPTIONS, rule, cost_s).rows


def test_a_reason_names_the_rules_that_are_in_the_way() -> None:
    found = cover(OPTIONS, partial(refusals, cuda=False, compiler=False), cost_s)
    reasons = "a communication hook is an option of ddp", "sharding is an option of fsdp"
    assert found.impossible[("hook", "fp16"), ("sharding", "full")] == "; ".join(reasons)
    assert found.impossible[("strategy", "fsdp"), ("precision", "fp16")].startswith("fp16 needs loss scaling")
    assert found.impossible[("loader", "direct"), ("compile", "yes")] == "compile needs a C++ compiler on a CPU"


def test_small_arrays_are_small() -> None:
    found = cover({"a": "01", "b": "01", "c": "01"}, lambda row: [])
    assert len(found.rows) == 4
    assert not found.impossible
