"""The documentation site, built as `make site` builds it: no warning, no broken link, and nothing left out."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import pytest
import scalestudy
from conftest import ROOT
from scalestudy.cli.command import LazyGroup
from scalestudy.cli.main import STAGES, VERBS, main, program, stage
from scalestudy.diagnose.causes import CAUSES
from scalestudy.registry.codes import Verdict

pytest.importorskip("sphinx", reason="the extra `site` is not installed")
SECONDS = 60
TERMS = (
    *("baseline", "block", "bucket", "efficiency", "exposed-communication", "floor", "forecast", "half-width"),
    *(
        "gradient-noise-scale",
        "interval",
        "point",
        "probe",
        "rank",
        "repeat",
        "run",
        "scale",
        "speedup",
        "straggler",
    ),
    *("step-time", "strong-scaling", "study", "two-modes", "variant", "warm-up", "weak-scaling", "workload"),
)


class Read(HTMLParser):
    """The ids of a page, its links, what a browser loads with it, and its blocks of preformatted text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.blocks: list[str] = []
        self._block = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given["id"]} if "id" in given else set()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loads = {"script": "src", "img": "src", "link": "href", "iframe": "src"}.get(tag)
        if loads in given:
            self.loaded.append(given[loads])
        if tag == "pre":
            self.blocks.append("")
            self._block = True

    def handle_endtag(self, tag: str) -> None:
        self._block = self._block and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._block:
            self.blocks[-1] += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    options = ("--builder", "html", "--conf-dir", "site", "--fail-on-warning", "--keep-going", "--quiet")
    # Every address of the network goes through a proxy that does not exist.
    offline = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    begin, used = time.monotonic(), _used()
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "--doctree-dir", folder / "doctrees", ROOT, folder / "html"],
        cwd=ROOT,
        env=os.environ | offline,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = _used() - used
    print(f"the site was built in {time.monotonic() - begin:.1f} s, with {seconds:.1f} s of a processor")
    assert done.returncode == 0, done.stdout
    assert done.stdout == ""
    assert seconds < SECONDS
    return folder / "html"


def _used() -> float:
    """Return the processor time of finished child processes: other tests on the host do not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    return {path: Read(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Read]) -> None:
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            ids = pages[target].ids if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in ids):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_nothing_is_loaded_from_the_network(pages: dict[Path, Read]) -> None:
    assert not [
        link for page in pages.values() for link in page.loaded if urlsplit(link).scheme in ("http", "https")
    ]


@pytest.mark.parametrize(
    "group, folder, name",
    [(program, "commands", name) for name in VERBS] + [(stage, "stages", name) for name in STAGES],
)
def test_every_command_has_a_page_with_its_options(
    group: LazyGroup, folder: str, name: str, site: Path, pages: dict[Path, Read]
) -> None:
    page = pages[site / f"docs/reference/{folder}/{name}.html"]
    command = group.get_command(click.Context(group), name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    missing = [option.opts for option in options if not any(_anchor(page, name, one) for one in option.opts)]
    assert not missing


def _anchor(page: Read, name: str, option: str) -> bool:
    return any(one.endswith(f"{name}-{option.lstrip('-')}") for one in page.ids if one.startswith("cmdoption"))


def keys(schema: dict[str, Any], part: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of all keys of the config, by its JSON schema: `workloads.NAME.model.mlp.hidden_dim`."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].split("/")[-1]]
    for option in [*part.get("anyOf", ()), *part.get("oneOf", ())]:
        yield from keys(schema, option, path)
    if isinstance(part.get("items"), dict):
        yield from keys(schema, part["items"], path)
    for one in part.get("patternProperties", {}).values():
        yield from keys(schema, one, f"{path}.NAME")
    found = part.get("properties", {})
    kind = found.get("type", {}).get("const")
    for name, one in found.items():
        key = ".".join(filter(None, (path, kind, name)))
        yield key
        yield from keys(schema, one, ".".join(filter(None, (path, name))))


def test_every_config_key_has_an_anchor(site: Path, pages: dict[Path, Read]) -> None:
    schema = json.loads((ROOT / "workflow/schemas/config.schema.json").read_text(encoding="utf-8"))
    wanted = {key for key in keys(schema, schema) if not key.endswith(".sweep")}
    assert len(wanted) > 150
    assert "The key `sweep`" in (ROOT / "config/README.md").read_text(encoding="utf-8")  # a key of every section
    assert sorted(wanted - pages[site / "config/README.html"].ids) == []


def test_every_schema_and_cause_has_a_page(site: Path, pages: dict[Path, Read]) -> None:
    names = [path.name.split(".")[0] for path in (ROOT / "docs/schemas").glob("*.schema.json")]
    assert names
    assert all(site / f"docs/reference/schemas/{name}.html" in pages for name in names)
    assert {cause.id for cause in CAUSES} <= pages[site / "docs/reference/causes.html"].ids


def test_every_name_of_the_library_is_on_its_page(site: Path, pages: dict[Path, Read]) -> None:
    page = pages[site / "docs/reference/library.html"]
    assert {name.lower() for name in scalestudy.__all__} - {"__version__"} <= page.ids
    text = (site / "docs/reference/library.html").read_text(encoding="utf-8")
    assert "limits of rounding, not of measurement" in text, "what a field of a class means"


def test_every_column_has_an_anchor(site: Path, pages: dict[Path, Read]) -> None:
    text = (ROOT / "docs/columns.md").read_text(encoding="utf-8")
    rows = re.findall(r"^## `(.+)`$|^\| `(\w+)`", text, flags=re.MULTILINE)
    file, wanted = "", set()
    for heading, column in rows:
        file = heading or file
        wanted |= {f"{file}.{column}"} if column else set()
    assert len(wanted) > 400
    assert sorted(wanted - pages[site / "docs/columns.html"].ids) == []


def test_the_glossary_has_the_terms_of_reports(site: Path, pages: dict[Path, Read]) -> None:
    verdicts = {verdict.replace("_", "-") for verdict in Verdict} - {"not-measured"}
    assert sorted({*TERMS, *verdicts} - pages[site / "docs/glossary.html"].ids) == []


def test_every_document_is_on_the_site(site: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "README.md", "docs/*.md", "config/*.md", "examples/*.md"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert len(tracked) > 30
    assert [path for path in tracked if not (site / path).with_suffix(".html").exists()] == []


def test_the_gallery_has_an_audit_that_anyone_can_repeat(
    site: Path, pages: dict[Path, Read], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table on the page, audited again, gives the text on the page."""
    page = pages[site / "docs/reference/gallery.html"]
    assert {"gallery", "audit-of-a-published-table"} <= page.ids
    table, shown = page.blocks[-2:]
    command, printed = shown.split("\n", 1)
    assert command == "$ scalestudy audit resnet50.csv"
    (tmp_path / "resnet50.csv").write_text(table, encoding="utf-8")
    assert main(["audit", str(tmp_path / "resnet50.csv")]) == 1
    assert capsys.readouterr().out.strip() == printed.strip()
    assert "TWO BASE CASES on 1" in printed
    assert len(table.splitlines()) == 7
    assert any("github.com/pytorch/pytorch" in link for link in page.links)
