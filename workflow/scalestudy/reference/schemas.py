"""JSON schemas of the files that the stages write: docs/schemas/NAME.schema.json."""

import json

from pydantic import BaseModel

from scalestudy.accept.model import AcceptanceFile
from scalestudy.analyse.guard.pairs import GuardFile
from scalestudy.analyse.study.checksums import ChecksumsFile
from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import TracesFile
from scalestudy.compare.model import ComparisonFile
from scalestudy.deposit.model import DepositFile
from scalestudy.diagnose.audit import AuditFile
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.launch.foreign.touched import FilesTouched
from scalestudy.measure.batch_search import BatchSearchFile
from scalestudy.prepare.store import Manifest
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.record.observation import RunRecord
from scalestudy.study.plan import Plan
from scalestudy.tune.model import TuneFile
from scalestudy.verify.model import TrialsFile, VerificationFile

DOCUMENTS: dict[str, type[BaseModel]] = {
    "plan": Plan,
    "run": RunRecord,
    "files": FilesTouched,
    "checksums": ChecksumsFile,
    "environment": StudyEnvironment,
    "traces": TracesFile,
    "decision": DecisionFile,
    "findings": FindingsFile,
    "trials": TrialsFile,
    "verification": VerificationFile,
    "tuning": TuneFile,
    "numbers": NumbersFile,
    "comparison": ComparisonFile,
    "guard": GuardFile,
    "audit": AuditFile,
    "batch_search": BatchSearchFile,
    "manifest": Manifest,
    "acceptance": AcceptanceFile,
    "deposit": DepositFile,
}
"""By name of the file, or of the command that writes it."""


def schemas() -> dict[str, str]:
    """The schema of every document as text, by name."""
    return {name: _schema(name, model) for name, model in DOCUMENTS.items()}


def _schema(name: str, model: type[BaseModel]) -> str:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= model.model_json_schema(mode="serialization") | {"title": f"scalestudy: {name}"}
    # A missing number is null in a file, also as a default.
    plain = json.loads(json.dumps(schema), parse_constant=lambda _: None)
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
