"""deposit.json: who deposits a study under which licence, and with what its documents were made."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from scalestudy.errors import UserError
from scalestudy.record.document import Document, Part
from scalestudy.study.config.refusals import NAME

LONGEST = 500
Line = Annotated[str, StringConstraints(max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A text on one line."""
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")


class Creator(Part):
    """An author of the deposit."""

    name: Line
    """'Family, Given', or the name of an organisation."""
    affiliation: Line = ""
    orcid: Annotated[str, StringConstraints(pattern=r"^(\d{4}-\d{4}-\d{4}-\d{3}[\dX])?$")] = ""


class DepositFile(Document):
    """deposit.json."""

    made_by: ClassVar[str] = "scalestudy deposit"
    schema_version: Literal[1] = 1
    study: Annotated[str, StringConstraints(pattern=NAME)]
    title: Line
    licence: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.+-]{1,80}$")]
    """Identifier of the SPDX list."""
    creators: tuple[Creator, ...]
    scalestudy: Line
    """Its version."""
    commit: Line = ""
    """Of the code that made the documents; empty if it is not known."""
    dirty: bool | None = None
    python: Line
    system: Line
    latex: Line = ""
    """First line of `pdflatex --version`; empty if there are no PDFs."""
    packages: dict[Line, Line] = Field(default_factory=dict)
    """Package -> version, of all that scalestudy needed to make the documents."""
    scripts: tuple[Line, ...] = ()
    """Training scripts in `scripts/`, which the author added."""
    left_out: tuple[Line, ...] = ()
    """Files of the results folder that the archive does not have."""
    paths_kept: dict[Line, int] = Field(default_factory=dict)
    """File, or pattern of files -> number of absolute paths of the machine in it."""


def creator(text: str) -> Creator:
    """Return the author that 'Family, Given; affiliation; ORCID' names. The last two parts may be missing."""
    parts = [part.strip() for part in text.split(";")]
    orcid = (
        parts.pop().rpartition("/")[2] if len(parts) > 1 and _ORCID.fullmatch(parts[-1].rpartition("/")[2]) else ""
    )
    if orcid and _check_digit(orcid) != orcid[-1]:
        raise UserError(
            f"--creator {text!r}: {orcid} is not an ORCID: its last digit would be {_check_digit(orcid)}"
        )
    if not parts[0] or len(parts) > 2 or not text.isprintable():
        raise UserError(
            f"--creator {text!r}: write 'Family, Given; affiliation; ORCID'; the last two may be missing"
        )
    refuse_long(text, "--creator")
    return Creator(name=parts[0], affiliation=parts[1] if len(parts) > 1 else "", orcid=orcid)


def refuse_long(text: str, option: str) -> None:
    """Raise UserError if the text of an option is longer than a line of deposit.json, or not printable."""
    if len(text) > LONGEST or not text.isprintable():
        raise UserError(f"{option} {text[:40]!r}...: at most {LONGEST} printable characters, on one line")


def _check_digit(orcid: str) -> str:
    """The last digit of an ORCID by ISO 7064, mod 11-2."""
    total = 0
    for digit in orcid[:-1].replace("-", ""):
        total = (total + int(digit)) * 2
    left = (12 - total % 11) % 11
    return "X" if left == 10 else str(left)


def spdx(text: str) -> str:
    """Return the identifier of a licence as the SPDX list spells it. Raises UserError for any other text."""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        found = str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        found = ""
    if not found or " " in found or found.startswith("LicenseRef-"):
        raise UserError(
            f"--licence {text!r}: not the identifier of one licence in the SPDX list (https://spdx.org/licenses/);"
            " for data CC-BY-4.0 and CC0-1.0 are usual"
        )
    return found
