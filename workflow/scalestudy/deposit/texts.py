"""The texts of a deposit: README, licence, citation, metadata for Zenodo, the study, the locked environment."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import yaml

from scalestudy.deposit import layout
from scalestudy.deposit.datapackage import LICENCES
from scalestudy.deposit.describe import as_json
from scalestudy.deposit.model import Creator, DepositFile
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.plan import Plan

KEYWORDS = ("scaling study", "distributed training", "PyTorch", "benchmarking", "scalestudy")
TEMPLATE = "deposit.md"


def deposit_texts(
    plan: Plan, facts: dict[str, Any], about: DepositFile, *, dates: str, hosts: bool
) -> dict[str, str]:
    """Return the text of each file by name. facts: as from publish/views/facts.py. dates: of the runs.

    hosts: whether a record has the name of a host.
    """
    answers = [answer.text for answer in facts["answers"]]
    readme = render(
        DIRECTORY / TEMPLATE,
        about=about,
        description=plan.study.description,
        runs=facts["counted_runs"],
        dates=dates,
        hosts=hosts,
        answers=answers,
        hardware=facts["hardware"],
        imported=plan.study.imported,
        commands=not plan.study.imported
        and any(isinstance(one, CommandWorkload) for one in plan.study.workloads.values()),
    )
    return {
        layout.README: readme,
        layout.LICENCE: _licence(about),
        layout.CITATION: _citation(about),
        layout.ZENODO: as_json(_zenodo(about, [plan.study.description, *answers])),
        layout.STUDY: study_text(plan),
        layout.LOCKED: _locked(about),
    }


def study_text(plan: Plan) -> str:
    """Return the study as a study file, with every key."""
    content = json.loads(json.dumps(plan.study.model_dump(mode="json")))
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _licence(about: DepositFile) -> str:
    names = "; ".join(one.name for one in about.creators)
    return f"SPDX-License-Identifier: {about.licence}\n{LICENCES.format(licence=about.licence)}\n\nBy {names}.\n"


def _citation(about: DepositFile) -> str:
    content = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them as below.",
        "title": about.title,
        "type": "dataset",
        "license": about.licence,
        "authors": [_author(one) for one in about.creators],
        "keywords": list(KEYWORDS),
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _author(one: Creator) -> dict[str, str]:
    family, comma, given = one.name.partition(",")
    made = {"family-names": family.strip(), "given-names": given.strip()} if comma else {"name": one.name}
    made |= {"affiliation": one.affiliation} if one.affiliation and comma else {}
    return made | ({"orcid": f"https://orcid.org/{one.orcid}"} if one.orcid else {})


def _zenodo(about: DepositFile, paragraphs: list[str]) -> dict[str, Any]:
    keys = {"affiliation": "affiliation", "orcid": "orcid"}
    return {
        "title": about.title,
        "description": "".join(f"<p>{escape(text)}</p>" for text in paragraphs if text)
        or f"<p>{escape(about.title)}</p>",
        "upload_type": "dataset",
        "access_right": "open",
        "license": about.licence.lower(),
        "language": "eng",
        "creators": [
            {"name": one.name} | {key: getattr(one, name) for key, name in keys.items() if getattr(one, name)}
            for one in about.creators
        ],
        "keywords": list(KEYWORDS),
    }


def _locked(about: DepositFile) -> str:
    lines = [f"# Made the documents of this deposit, with Python {about.python}."]
    if about.commit:
        changed = ", with uncommitted changes" if about.dirty else ""
        lines.append(f"# scalestudy {about.scalestudy} was commit {about.commit}{changed}.")
    names = sorted(about.packages, key=str.lower)
    return "\n".join([*lines, *(f"{name}=={about.packages[name]}" for name in names)]) + "\n"
