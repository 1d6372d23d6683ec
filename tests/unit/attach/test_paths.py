"""The functions that are wrapped to record the files of a script work as before, and their notes are correct."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import scalestudy

ATTACH = Path(scalestudy.__file__).parent / "attach"
HEAD = f"""
import importlib.util, os, sys
place = {str(ATTACH)!r}
find = importlib.util.spec_from_file_location
spec = find("attached", place + "/__init__.py", submodule_search_locations=[place])
sys.modules["attached"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from attached import paths
phase = "b"
noted = paths.Paths(sys.argv[1], lambda: phase)
noted.begin()
"""


def notes(tmp_path: Path, body: str) -> list[tuple[str, str, str]]:
    """(kind, phase, path relative to the script's folder) that a process leaves, in their order."""
    place, attached = tmp_path / "place", tmp_path / "launch/attached"
    place.mkdir()
    attached.mkdir(parents=True)
    (place / "there.txt").write_text("there")
    text = HEAD + dedent(body) + "\nnoted.write()\n"
    done = subprocess.run(
        [sys.executable, "-c", text, str(attached)], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line for file in sorted(attached.glob("*.paths")) for line in file.read_text().splitlines()]
    found = []
    for line in lines:
        kind, phase, _, path = line.split(" ", 3)
        found.append((kind, phase, path.replace(f"{place}/", "")))
    return found


def test_each_kind_is_noted_once(tmp_path: Path) -> None:
    body = """
        from pathlib import Path
        for _ in range(3):
            os.path.exists("absent.txt")
            open("there.txt").close()
            open("written.txt", "w").close()
            open("appended.txt", "a").close()
            open("there.txt", "r+").close()
        Path("later.txt").write_text("x")
        Path("later.txt").replace("renamed.txt")
        os.listdir("."); list(os.scandir())
        os.close(os.open("low.txt", os.O_WRONLY | os.O_CREAT))
        phase = "t"
        open("written.txt", "w").close()
    """
    assert notes(tmp_path, body) == [
        ("m", "b", "absent.txt"),
        ("r", "b", "there.txt"),
        ("w", "b", "written.txt"),
        ("a", "b", "appended.txt"),
        ("u", "b", "there.txt"),
        ("r", "b", "there.txt"),  # again, after it was opened to be changed
        ("w", "b", "later.txt"),
        (">", "b", "later.txt\0renamed.txt"),
        ("l", "b", str(tmp_path / "place")),
        ("w", "b", "low.txt"),
        ("w", "t", "written.txt"),
    ]


def test_what_is_no_output_is_not_noted(tmp_path: Path) -> None:
    body = """
        import tempfile
        cache = os.path.expanduser("~/.cache/scalestudy-absent/x")
        for path in ("/proc/self/absent", cache, sys.prefix + "/absent", os.path.dirname(sys.argv[1]) + "/absent"):
            os.path.exists(path)
        os.makedirs("a/b/c")  # which looks for a, and for a/b
        with tempfile.TemporaryFile() as file:
            file.write(b"x")
        read, write = os.pipe()
        open(read, "rb").close()
        open(write, "wb").close()
    """
    assert notes(tmp_path, body) == []


def test_what_is_wrapped_works_as_before(tmp_path: Path) -> None:
    body = """
        import io, pickle, shutil
        assert open is io.open and pickle.loads(pickle.dumps(open)) is open
        assert os.stat in os.supports_fd and os.stat in os.supports_follow_symlinks
        class Holder:
            look, opened = os.stat, open
        assert Holder().look("there.txt").st_size == 5
        assert Holder().opened(file="there.txt", mode="r", encoding="ascii").read() == "there"
        os.makedirs("tree/below")
        shutil.copytree("tree", "copy")
        shutil.rmtree("tree")
        assert os.listdir() and not os.path.exists("tree") and os.path.isdir("copy/below")
        for wrong in (FileNotFoundError, TypeError):
            try:
                open("absent") if wrong is FileNotFoundError else open()
            except wrong:
                pass
            else:
                raise AssertionError(wrong)
    """
    notes(tmp_path, body)


def test_a_relative_path_is_another_one_in_another_folder(tmp_path: Path) -> None:
    body = """
        open("a.txt", "w").close()
        os.mkdir("below")
        os.chdir("below")
        open("a.txt", "w").close()
    """
    assert notes(tmp_path, body) == [("w", "b", "a.txt"), ("w", "b", "below/a.txt")]


def test_a_forked_child_leaves_a_file_of_its_own(tmp_path: Path) -> None:
    body = """
        open("parent.txt", "w").close()
        child = os.fork()
        if child == 0:
            open("child.txt", "w").close()
            os._exit(0)
        os.waitpid(child, 0)
    """
    assert sorted(notes(tmp_path, body)) == [("w", "b", "child.txt"), ("w", "b", "parent.txt")]
    assert len(list((tmp_path / "launch/attached").glob("*.paths"))) == 2


def test_libraries_and_programs_are_noted_before_they_open_anything(tmp_path: Path) -> None:
    body = """
        import sqlite3, subprocess
        from attached import libraries
        libraries.of_programs(noted.note)
        libraries.of_modules(noted.note)["sqlite3"](sqlite3)
        sqlite3.connect("new.db").execute("create table t (x)")
        sqlite3.connect(":memory:")
        subprocess.run(["cp", "-p", "there.txt", "copied.txt"], check=True)
        assert os.system("cp there.txt --target-directory=.") != 0
        assert os.path.exists("copied.txt") and os.path.exists("new.db")
    """
    found = notes(tmp_path, body)
    place = str(tmp_path / "place")
    wanted = [("m", "new.db"), ("u", "new.db"), ("x", "there.txt"), ("x", "copied.txt"), ("x", place)]
    assert [
        (kind, path) for kind, _, path in found if path in ("new.db", "there.txt", "copied.txt", place)
    ] == wanted


def test_notes_are_bounded(tmp_path: Path) -> None:
    body = """
        os.mkdir("many")
        for at in range(200):
            open(f"many/{at}.bin", "w").close()
        for at in range(paths.MOST + 500):
            os.path.exists(f"d{at % 100}/{at}")
    """
    found = notes(tmp_path, body)
    written = [path for kind, _, path in found if kind == "w"]
    assert len(written) == paths_constant("MOST_OF_A_FOLDER")
    assert ("+", "b", "many") in found
    assert len([path for kind, _, path in found if kind == "m"]) == paths_constant("MOST")


def paths_constant(name: str) -> int:
    """A constant of attach/paths.py, which a script's process loads by its path too."""
    return int(getattr(importlib.import_module("scalestudy.attach.paths"), name))
