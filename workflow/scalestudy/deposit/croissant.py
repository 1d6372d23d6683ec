"""croissant.json: the tables of a results folder in Croissant 1.0, JSON-LD for catalogues of data sets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scalestudy.deposit.datapackage import LICENCES, MEDIA
from scalestudy.deposit.model import DepositFile
from scalestudy.deposit.tables import Described, Field
from scalestudy.registry.kinds import Kind

CONFORMS = "http://mlcommons.org/croissant/1.0"
TYPES: dict[Kind, str] = {"text": "sc:Text", "flag": "sc:Boolean", "count": "sc:Integer", "number": "sc:Float"}
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(
    results: Path,
    study: str,
    tables: Iterable[Described],
    about: DepositFile | None,
    *,
    dated: str,
) -> dict[str, Any]:
    """Return croissant.json of a folder with these tables.

    dated: day of the last run.
    """
    found = list(tables)
    made: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": study,
        "description": "Tables of a scaling study of PyTorch training, by scalestudy. Shares and ratios are"
        " fractions.",
        "version": "1.0.0",
    }
    if dated:
        made["dateCreated"] = dated
    if about:
        made |= {
            "license": LICENCES.format(licence=about.licence),
            "creator": [_person(one.name, one.orcid) for one in about.creators],
            "citeAs": f"{' and '.join(one.name for one in about.creators)}. {about.title}.",
        }
    return made | {
        "distribution": [_file(results, table) for table in found],
        "recordSet": [_records(table) for table in found],
    }


def _person(name: str, orcid: str) -> dict[str, str]:
    kind = "sc:Person" if "," in name else "sc:Organization"
    return {"@type": kind, "name": name} | ({"@id": f"https://orcid.org/{orcid}"} if orcid else {})


def _file(results: Path, table: Described) -> dict[str, Any]:
    content = (results / table.path).read_bytes()
    form = table.path.rpartition(".")[2]
    return {
        "@type": "cr:FileObject",
        "@id": table.path,
        "name": table.path,
        "description": f"A row is {table.about}.",
        "contentUrl": table.path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "application/x-parquet" if form == "parquet" else MEDIA[form],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(table: Described) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"A record is {table.about}.",
        "field": [_field(table, field) for field in table.fields],
    }


def _field(table: Described, field: Field) -> dict[str, Any]:
    unit = f" Unit: {field.unit}." if field.unit else ""
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{field.name}",
        "name": field.name,
        "description": f"{field.meaning or field.name}.{unit}",
        "dataType": TYPES[field.kind],
        "source": {"fileObject": {"@id": table.path}, "extract": {"column": field.name}},
    }
