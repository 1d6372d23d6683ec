"""Chooses the setting of the next run, with an Optuna sampler that uses the step-time models.

Optuna keeps the trials of a search and gets the next one from a sampler. `model` is our own: expected improvement
by the surrogate, whose prior mean is the prediction of our models. The others are Optuna's own; the benchmark
compares with random search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from scalestudy.errors import UserError
from scalestudy.tune.space import Space, meaningful
from scalestudy.tune.surrogate import Posterior, Surrogate
from scalestudy.tune.target import Setting

Sampler = Literal["model", "tpe", "gp", "random"]
LEAST_GAIN = 0.002
"""Expected improvement of the logarithm of the goal, below which no further setting is tried."""
TRIES = 50
"""Attempts to get an untried setting from Optuna's samplers, before the first untried one is taken."""


def need_optuna() -> Any:
    """The optuna package, logging errors only. Raises UserError with the install command if it is missing."""
    try:
        import optuna
    except ModuleNotFoundError:
        raise UserError("tune needs Optuna: python -m pip install 'scalestudy[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


class Chooser:
    """Chooses the setting of a space to run next, by one sampler.

    open_: whether each setting may be run at all. Every setting is chosen at most once. The same seed and results
    give the same choices, so an interrupted search continues where it was.
    """

    def __init__(
        self, space: Space, predicted: np.ndarray, open_: Sequence[bool], *, sampler: Sampler, seed: int
    ) -> None:
        self._space, self._sampler = space, sampler
        self._index = {_key(one): at for at, one in enumerate(space.settings)}
        self._left = {at for at, may in enumerate(open_) if may}
        self._surrogate = Surrogate(space, predicted if sampler == "model" else np.zeros(len(predicted)))
        optuna = need_optuna()
        self._optuna = optuna
        self.posterior: Posterior | None = None
        self._next: int | None = None
        self._study = optuna.create_study(direction="maximize", sampler=self._of_optuna(sampler, seed))
        self._asked: dict[int, Any] = {}

    def _of_optuna(self, sampler: Sampler, seed: int) -> Any:
        samplers = self._optuna.samplers
        if sampler == "model":
            return _of_model(self)
        if sampler == "tpe":
            return samplers.TPESampler(seed=seed, multivariate=True)
        if sampler == "gp":
            return samplers.GPSampler(seed=seed, deterministic_objective=False)
        return samplers.RandomSampler(seed=seed)

    def observe(self, at: Sequence[int], blocks: Sequence[int], values: Sequence[float]) -> None:
        """Update the surrogate with all runs so far: index of the setting, block, and log of the goal of each."""
        if len(at):
            self.posterior = self._surrogate.posterior(at, blocks, values)

    def next(self) -> int | None:
        """Index of the next setting; None if all were chosen, or no other is expected to be better."""
        if not self._left:
            return None
        if self._sampler == "model" and not self._worth_more():
            return None
        for _ in range(TRIES):
            trial = self._study.ask()
            at = self._index[_key(self._suggested(trial))]
            if at in self._left:
                break
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            at = min(self._left)
            self._study.enqueue_trial(dict(self._space.settings[at]))
            trial = self._study.ask()
            self._suggested(trial)
        self._left.discard(at)
        self._asked[at] = trial
        return at

    def take(self, at: int) -> None:
        """Choose a given setting: the present one."""
        self._study.enqueue_trial(dict(self._space.settings[at]))
        trial = self._study.ask()
        self._suggested(trial)
        self._left.discard(at)
        self._asked[at] = trial

    def tell(self, at: int, value: float | None) -> None:
        """Report the first result of a setting to Optuna; None if its run failed."""
        failed = self._optuna.trial.TrialState.FAIL
        self._study.tell(self._asked.pop(at), value, state=None if value is not None else failed)

    def best_left(self) -> int:
        """The remaining setting with the largest expected improvement; before any run, the best prediction."""
        left = sorted(self._left)
        if self.posterior is None:
            return max(left, key=lambda at: self._surrogate.prior[at])
        gains = self.improvements()
        return max(left, key=lambda at: (gains[at], self._surrogate.prior[at]))

    def improvements(self) -> np.ndarray:
        """Expected improvement of each setting over the best tried setting, shape (settings,)."""
        assert self.posterior is not None
        tried = [at for at in range(len(self._space.settings)) if at not in self._left]
        return self.posterior.expected_improvement(float(self.posterior.mean[tried].max()))

    def _worth_more(self) -> bool:
        return self.posterior is None or float(self.improvements()[sorted(self._left)].max()) > LEAST_GAIN

    def _suggested(self, trial: Any) -> Setting:
        found = {knob.key: trial.suggest_categorical(knob.key, knob.levels) for knob in self._space.knobs}
        return meaningful(found)


def _key(setting: Setting) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(setting.items()))


def _of_model(chooser: Chooser) -> Any:
    """An Optuna sampler that suggests the setting with the largest expected improvement by the surrogate."""
    import optuna

    class ModelSampler(optuna.samplers.BaseSampler):
        """Suggests the levels of the setting with the largest expected improvement."""

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            knobs = chooser._space.knobs
            return {knob.key: optuna.distributions.CategoricalDistribution(knob.levels) for knob in knobs}

        def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
            setting = chooser._space.settings[chooser.best_left()]
            return {knob.key: setting.get(knob.key, knob.present) for knob in chooser._space.knobs}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            return param_distribution.choices[0]

    return ModelSampler()
