"""Keys of a study that a user wrote and that have no effect beside the others, though each of them is valid.

Only a study that a user writes is refused for this. The study of a trial, for instance, keeps keys of the study
that it comes from. A value that is the default counts as not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scalestudy.study.config.meaning.alike import alike
from scalestudy.study.config.meaning.comparisons import unused_comparisons
from scalestudy.study.config.meaning.heeded import unheeded
from scalestudy.study.config.meaning.hugging_face import wrong_of_hugging_face
from scalestudy.study.config.meaning.inputs import unused_of_inputs
from scalestudy.study.config.meaning.limits import wrong_limits
from scalestudy.study.config.meaning.optimizers import wrong_of_optimizers
from scalestudy.study.config.meaning.scripts import unused_of_scripts
from scalestudy.study.config.meaning.sizes import wrong_sizes
from scalestudy.study.config.meaning.steps import wrong_steps
from scalestudy.study.config.meaning.sweeps import set_twice
from scalestudy.study.config.meaning.tuned import unused_bounds
from scalestudy.study.config.meaning.variables import wrong_variables
from scalestudy.study.config.meaning.variants import unused_options
from scalestudy.study.config.meaning.workloads import unused_of_workloads
from scalestudy.study.config.study import Study

Look = Callable[[Study, Mapping[str, Any]], Iterable[str]]
LOOKS: tuple[Look, ...] = (
    unheeded,
    unused_comparisons,
    wrong_limits,
    alike,
    set_twice,
    unused_options,
    unused_of_inputs,
    unused_of_workloads,
    wrong_sizes,
    wrong_of_optimizers,
    wrong_of_hugging_face,
    unused_of_scripts,
    wrong_steps,
    wrong_variables,
    unused_bounds,
)


def meaningless(study: Study, content: Mapping[str, Any]) -> list[str]:
    """A line for each key, with its path, its value and what would be right. content: the study as it is
    written."""
    return [line for look in LOOKS for line in look(study, content)]
