"""The config of a workflow: the copy that its jobs read, and the command line that it came from."""

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalestudy.project import installed, root
from scalestudy.record.files import write_text
from scalestudy.study.config.study import Study

SUBMITTED = "SCALESTUDY_SUBMITTED"
"""Variable: the files with the configs of submitted cluster jobs, one for each study of the workflow."""

OWN_RULES = "SCALESTUDY_OWN_RULES"
"""Variable: set in a workflow that imports ours, whose own Snakefile does not run another study."""

PROFILE = "SNAKEMAKE_PROFILE"
"""Variable: the profile of a Snakemake that was started without `--profile`."""


def read_config(config: Mapping[str, Any], *, job: bool) -> dict[str, Any]:
    """The config; in a cluster job the one that the job was submitted with, even if the file was edited since."""
    kept = _submitted() if job else {}
    if kept:
        # A workflow can have several studies, each as a module; the name of a single one may have been edited.
        alone = next(iter(kept.values())) if len(kept) == 1 else config
        return dict(kept.get(str(config.get("study")), alone))
    # A workflow that imports this one may keep Snakemake's path variables in the same mapping.
    return {key: value for key, value in config.items() if key != "pathvars"}


def config_json(study: Study) -> str:
    """Return a study as one line of JSON."""
    return json.dumps(study.model_dump(mode="json"))


def keep_config(study: Study, results: Path) -> Path:
    """Write the study to its results folder, where it is not changed later, and return the path."""
    text = config_json(study)
    path = results / "submitted" / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    write_text(path, text)
    return path


def keep_config_for_jobs(study: Study, results: Path) -> None:
    """Keep the config for jobs, which read the workflow again at their start, with the config of submission."""
    files = [path for path in _files() if json.loads(path.read_text(encoding="utf-8"))["study"] != study.name]
    files.append(keep_config(study, results).resolve())
    os.environ[SUBMITTED] = os.pathsep.join(map(str, files))


def _files() -> list[Path]:
    """The files that the variable names."""
    return [Path(path) for path in os.environ.get(SUBMITTED, "").split(os.pathsep) if path]


def _submitted() -> dict[str, Any]:
    """The configs with which jobs were submitted, by the name of the study."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in _files()]
    return {config["study"]: config for config in found}


def profile_arguments() -> list[str]:
    """`--profile NAME` of this Snakemake, for one that it starts; empty without a profile.

    Snakemake does not pass it to its rules. A process that it starts for a job gets it in a variable.
    """
    words = sys.argv
    said = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--profile"]
    said += [word.partition("=")[2] for word in words if word.startswith("--profile=")]
    if said:
        os.environ[PROFILE] = said[-1]
    return ["--profile", os.environ[PROFILE]] if os.environ.get(PROFILE) else []


def command_line(configfiles: Sequence[Path], changes: Mapping[str, Any], *, imported: bool = False) -> str:
    """The command that runs a study, with the files and `--config` of the command line.

    Without a checkout this is `scalestudy run`, which uses the rules of the installed package. imported: another
    workflow uses them as a module, and its own Snakefile is run.
    """
    ours = installed() and not imported
    program, option = (["scalestudy", "run"], "--study") if ours else (["snakemake"], "--configfile")
    files = [_as_said(path) for path in configfiles]
    said = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in changes.items()]
    return shlex.join([*program, *([option, *files] if files else []), *(["--config", *said] if said else [])])


def _as_said(file: Path) -> str:
    """The path of a file, relative if it is in the current directory or a ready study of the installed package."""
    if installed() and file.resolve().is_relative_to(root()):
        return file.resolve().relative_to(root()).as_posix()
    return os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)
