"""Which keys of a variant apply to a command, and which apply only to the built-in training."""

from collections.abc import Iterator, Mapping

from scalestudy.study.config.commands import PLACEHOLDERS, CommandWorkload, placeholders, unknown_placeholder
from scalestudy.study.config.conditions import Host
from scalestudy.study.config.variants import Knobs, Variant
from scalestudy.study.config.workloads import Workload


def wrong_for_commands(
    workloads: Mapping[str, Workload | CommandWorkload], variants: Mapping[str, Variant], hosts: Mapping[str, Host]
) -> Iterator[str]:
    """What is wrong, a line each, with its key and what would be right. hosts: by variant."""
    commands = {name: one for name, one in workloads.items() if isinstance(one, CommandWorkload)}
    for name, variant in variants.items():
        path = f"variants.{name}"
        if not commands:
            for key in ("arguments", "launcher"):
                if getattr(variant, key):
                    yield f"{path}.{key}: has no effect, since no workload is a command; leave it out"
            continue
        for setting in Knobs(**{knob: getattr(variant, knob) for knob in Knobs.model_fields}).settings.split(", "):
            if setting:
                yield (
                    f"{path}.{setting.partition(':')[0]}: has no effect on workload {min(commands)}, which is a"
                    " command; pass it in `arguments` if the script has such an option"
                )
        if unknown := placeholders(variant.arguments) - set(PLACEHOLDERS):
            yield f"{path}.arguments: {unknown_placeholder(min(unknown))}"
        for workload, one in commands.items():
            if "learning_rate" in placeholders(variant.arguments) and one.learning_rate is None:
                yield f"workloads.{workload}.learning_rate: missing; variant {name} has {{learning_rate}}"
        if hosts[name].start == "fork":
            key = f"{path}.start" if variant.start else "host.start"
            yield f"{key}: workload {min(commands)} is a command, and commands start cold; use cold"
