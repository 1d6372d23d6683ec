"""What a variant may say where the workload is a command, and what only of our own training."""

from collections.abc import Mapping

from scalestudy.study.config.commands import PLACEHOLDERS, CommandWorkload, placeholders
from scalestudy.study.config.conditions import Host
from scalestudy.study.config.variants import Knobs, Variant
from scalestudy.study.config.workloads import Workload


def refuse_for_commands(
    workloads: Mapping[str, Workload | CommandWorkload], variants: Mapping[str, Variant], hosts: Mapping[str, Host]
) -> str | None:
    """What is wrong, with its key and what would be right; None where nothing is. hosts: by variant."""
    commands = {name: one for name, one in workloads.items() if isinstance(one, CommandWorkload)}
    for name, variant in variants.items():
        path = f"variants.{name}"
        if not commands:
            if variant.arguments or variant.launcher:
                key = "arguments" if variant.arguments else "launcher"
                return f"{path}.{key}: is for workloads with a command, and the study has none; leave it out"
            continue
        if settings := Knobs(**{knob: getattr(variant, knob) for knob in Knobs.model_fields}).settings:
            return (
                f"{path}.{settings.partition(':')[0]}: workload {min(commands)} is a command, which takes no"
                " option of our own training; say it in `arguments` if the script has one"
            )
        unknown = placeholders(variant.arguments) - set(PLACEHOLDERS)
        if unknown:
            return f"{path}.arguments: {{{min(unknown)}}} is no placeholder; known are {', '.join(PLACEHOLDERS)}"
        for workload, one in commands.items():
            if "learning_rate" in placeholders(variant.arguments) and one.learning_rate is None:
                return f"workloads.{workload}.learning_rate: missing; variant {name} has {{learning_rate}}"
        if hosts[name].start == "fork":
            key = f"{path}.start" if variant.start else "host.start"
            return f"{key}: workload {min(commands)} is a command, and a script of your own starts cold; use cold"
    return None
