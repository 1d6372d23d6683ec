"""axe-core, the checker of accessible pages, from npm. It is kept in the user's cache, not in the checkout."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest
from browser import Page

VERSION = "4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
"""Of the package, in base64, as in the `dist.integrity` of the registry."""
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
PATIENCE_S = 60
RUN = """
axe.run(document, {runOnly: {type: 'tag', values: %s}, resultTypes: ['violations']}).then(found => JSON.stringify({
  passes: found.passes.length,
  violations: found.violations.map(rule => ({
    id: rule.id, help: rule.help,
    nodes: rule.nodes.map(node => [node.target.join(' '), node.failureSummary]),
  })),
}))
"""


class UnavailableError(Exception):
    """axe-core is not in the cache and cannot be downloaded; the text has the reason."""


def package(cache: Path) -> Path:
    """The package as npm publishes it, in a folder. It is downloaded if it is not there, and always checked.

    Raises UnavailableError without npm or network, and AssertionError for another content.
    """
    path = cache / f"axe-core-{VERSION}.tgz"
    if not path.exists():
        if shutil.which("npm") is None:
            raise UnavailableError("no npm here; on Debian: apt-get install npm")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            command = ["npm", "pack", f"axe-core@{VERSION}", "--ignore-scripts", "--pack-destination", folder]
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise UnavailableError(f"npm did not bring axe-core within {PATIENCE_S} s") from None
            if done.returncode:
                raise UnavailableError(f"npm did not bring axe-core: {done.stderr.strip()[-300:]}")
            (Path(folder) / path.name).replace(path)
    found = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    assert found == SHA512, f"{path}: its sha512 is {found}, not that of axe-core {VERSION}; delete the file"
    return path


def source_in(path: Path) -> str:
    """The script in a package."""
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as files:
        member = files.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def cache_folder() -> Path:
    """The folder for downloads of tests, in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "scalestudy-tests"


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core. Without it tests are skipped, or fail where they must run, as in CI."""
    try:
        return source_in(package(cache_folder()))
    except UnavailableError as reason:
        assert "SCALESTUDY_NEED_CHROMIUM" not in os.environ, str(reason)
        pytest.skip(str(reason))


def violations(page: Page, script: str, tags: tuple[str, ...] = TAGS) -> list[str]:
    """Return what axe finds wrong with the present page: a text for each element.

    DevTools evaluates the script in the page without asking the page's content security policy.
    """
    if not page.get("typeof axe === 'object'"):
        page.call("Runtime.evaluate", expression=script)
    answer = page.call(
        "Runtime.evaluate", expression=RUN % json.dumps(tags), awaitPromise=True, returnByValue=True
    )
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    found: dict[str, Any] = json.loads(answer["result"]["value"])
    assert found["passes"] > 10, "axe has looked at hardly anything"
    return [
        f"{rule['id']}: {place}: {' '.join(summary.split())}"
        for rule in found["violations"]
        for place, summary in rule["nodes"]
    ]
