"""All ranks end after the same step, however late one of them hears of it."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from scalestudy.attach import ending
from scalestudy.attach.ending import Ending, Enough

RANKS, STEP_S, MOST_S = 3, 0.004, 30.0


class Trained:
    """Ranks that wait for each other in each step, as those of a real training do; a thread each."""

    def __init__(
        self,
        folder: Path,
        *,
        slow_to_hear: int | None = None,
        probes: int = 0,
        alike: Sequence[bool] = (False,) * RANKS,
    ) -> None:
        self.steps = [0] * RANKS
        self.left_at = [0] * RANKS
        self.left_after: list[str] = [""] * RANKS
        self.alike = alike
        self.errors: list[BaseException] = []
        self.heard_in_time: list[bool] = []
        self._together = threading.Barrier(RANKS, timeout=MOST_S)
        self._told: list[threading.Event] = [threading.Event() for _ in range(RANKS)]
        self.endings = [Ending(str(folder), several_nodes=False) for _ in range(RANKS)]
        for rank, its in enumerate(self.endings):
            self._set_up(its, rank, slow=rank == slow_to_hear, probes=probes)
        self._folder = folder

    def _set_up(self, its: Ending, rank: int, *, slow: bool, probes: int) -> None:
        its.step_time_s = lambda: STEP_S
        its.alike = lambda: self.alike[rank]
        its.probe_steps = lambda step_time_s: probes
        its.announced = lambda last, block: last + block
        if slow:
            propose = its._propose

            def late(last: int) -> bool:
                until = time.monotonic() + 10 * STEP_S
                while time.monotonic() < until and self.steps[rank] <= last:
                    time.sleep(STEP_S / 4)  # the message takes longer than the notice
                self.heard_in_time.append(propose(last))
                return self.heard_in_time[-1]

            its._propose = late  # type: ignore[method-assign]

    def run(self, *, enough_after: int) -> None:
        threads = [
            threading.Thread(target=self._train, args=(rank, enough_after), daemon=True) for rank in range(RANKS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(MOST_S)
        assert not any(thread.is_alive() for thread in threads), self.steps

    def _train(self, rank: int, enough_after: int) -> None:
        its = self.endings[rank]
        its.listen(rank, RANKS, lambda: self.steps[rank])
        try:
            while True:
                self._together.wait()  # an all-reduce
                time.sleep(STEP_S)
                if self.alike[rank] and its.is_last(self.steps[rank] + 1, at_update=True):
                    self._leave(rank, self.steps[rank] + 1, "an update")
                self.steps[rank] += 1
                if rank == 0 and self.steps[0] == enough_after:
                    (self._folder / ending.STOP).touch()
                if its.is_last(self.steps[rank]):
                    self._leave(rank, self.steps[rank], "a request")
        except Enough:
            pass
        except BaseException as error:
            self.errors.append(error)

    def _leave(self, rank: int, step: int, after: str) -> None:
        self.left_at[rank], self.left_after[rank] = step, after
        self.endings[rank].leave()


def test_all_ranks_leave_after_one_step_soon(tmp_path: Path) -> None:
    trained = Trained(tmp_path)
    trained.run(enough_after=40)
    assert not trained.errors
    assert len(set(trained.left_at)) == 1 and trained.left_at[0] > 40


def test_a_rank_that_hears_too_late_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One rank continues into a step that the others do not start; all agree on a later step."""
    monkeypatch.setattr(ending, "NOTICE_S", 0.0)
    monkeypatch.setattr(ending, "NOTICE_STEPS", 1)
    trained = Trained(tmp_path, slow_to_hear=2)
    trained.run(enough_after=40)
    assert not trained.errors
    assert trained.heard_in_time[0] is False and trained.heard_in_time[-1] is True
    assert len(set(trained.left_at)) == 1


@pytest.mark.parametrize("slow", [None, 1])
@pytest.mark.parametrize(
    ("alike", "after"),
    [((True, True, True), "an update"), ((True, True, False), "a request"), ((False, True, True), "a request")],
)
def test_all_leave_after_an_update_if_the_steps_of_all_are_alike(
    alike: Sequence[bool], after: str, slow: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if slow is not None:
        monkeypatch.setattr(ending, "NOTICE_S", 0.0)
        monkeypatch.setattr(ending, "NOTICE_STEPS", 1)
    trained = Trained(tmp_path, alike=alike, slow_to_hear=slow)
    trained.run(enough_after=40)
    assert not trained.errors
    assert trained.left_after == [after] * RANKS
    assert len(set(trained.left_at)) == 1 and trained.left_at[0] > 40


def test_probes_follow_the_step_that_was_agreed(tmp_path: Path) -> None:
    trained = Trained(tmp_path, probes=20)
    trained.run(enough_after=40)
    assert not trained.errors
    assert len(set(trained.left_at)) == 1 and trained.left_at[0] > 60


def test_a_single_rank_leaves_after_the_step_that_goes_on(tmp_path: Path) -> None:
    its, steps = Ending(str(tmp_path), several_nodes=False), [5]
    (tmp_path / ending.STOP).touch()
    its.listen(0, 1, lambda: steps[0])
    until = time.monotonic() + MOST_S
    while not its.is_last(6) and time.monotonic() < until:
        time.sleep(0.01)
    assert not its.is_last(5) and its.is_last(6)
