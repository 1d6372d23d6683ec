"""Archives of strangers: each is refused before anything of it is written, with a line that says why."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from scalestudy.cli.main import main
from scalestudy.deposit import opened as reader
from scalestudy.deposit.layout import SUMS
from scalestudy.deposit.opened import opened
from scalestudy.errors import UserError

FILES = {"plan.json": b"{}\n", "runs/a-1/run.json": b"{}\n", "runs/a-1/log.txt": b"text\n" * 100}


def sums_of(files: dict[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()).encode()


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    made.create_system, made.external_attr = 3, mode << 16
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def write(path: Path, *more: tuple[zipfile.ZipInfo, bytes], sums: bytes | None = None) -> None:
    """Write an archive of FILES with more entries; their names are in SHA256SUMS, so that this refuses nothing."""
    named = FILES | {one.filename.removeprefix("top/"): content for one, content in more}
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content in FILES.items():
            archive.writestr(entry(f"top/{name}"), content)
        for one, content in more:
            archive.writestr(one, content)
        archive.writestr(entry(f"top/{SUMS}"), sums_of(named) if sums is None else sums)


def named(name: str) -> Callable[[Path], None]:
    return lambda path: write(path, (entry(name), b"x"))


def of_mode(mode: int) -> Callable[[Path], None]:
    return lambda path: write(path, (entry("top/runs/a-1/link.txt", mode), b"/etc/passwd"))


def bomb(path: Path) -> None:
    write(path, (entry("top/runs/a-1/steps.parquet"), bytes(100 << 20)))


def nul(path: Path) -> None:
    """A name that ends for zipfile at the NUL, and for others does not."""
    write(path, (entry("top/runs/a-1/aXb.txt"), b"x"))
    path.write_bytes(path.read_bytes().replace(b"aXb.txt", b"a\0b.txt"))


def encrypted(path: Path) -> None:
    write(path)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    path.write_bytes(bytes(content))


def declared(size: int) -> Callable[[Path], None]:
    """The first file claims another size in the directory than it has."""

    def make(path: Path) -> None:
        write(path)
        content = bytearray(path.read_bytes())
        struct.pack_into("<L", content, content.index(b"PK\x01\x02") + 24, size)
        path.write_bytes(bytes(content))

    return make


def overlapping(path: Path) -> None:
    """Two entries of the directory have the same data."""
    write(path)
    content = bytearray(path.read_bytes())
    first = content.index(b"PK\x01\x02")
    second = content.index(b"PK\x01\x02", first + 4)
    content[second + 42 : second + 46] = content[first + 42 : first + 46]
    path.write_bytes(bytes(content))


def other_local_name(path: Path) -> None:
    write(path)
    path.write_bytes(path.read_bytes().replace(b"top/plan.json", b"top/plaN.json", 1))


def flipped(path: Path) -> None:
    write(path)
    content = bytearray(path.read_bytes())
    at = content.index(b"log.txt") + 9
    content[at] ^= 0xFF
    path.write_bytes(bytes(content))


def cut(path: Path) -> None:
    write(path)
    path.write_bytes(path.read_bytes()[:-40])


def with_text(before: bytes, after: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        write(path)
        path.write_bytes(before + path.read_bytes() + after)

    return make


def commented(path: Path) -> None:
    write(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"x" * 300


def many(path: Path) -> None:
    """More entries than any study has; the directory alone says so."""
    write(path)
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    struct.pack_into("<HH", content, end + 8, 0xFFFF, 0xFFFF)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**7, 10**7, 46 * 10**7, 0)
    path.write_bytes(bytes(content[:end]) + record + locator + bytes(content[end:]))


def bzip2(path: Path) -> None:
    packed = entry("top/runs/a-1/more.txt")
    packed.compress_type = zipfile.ZIP_BZIP2
    write(path, (packed, b"x" * 100))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def tar(path: Path) -> None:
    import tarfile

    source = path.with_name("source")
    source.write_text("x")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(source, "top/plan.json")


LISTED = sums_of(FILES)
HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "absolute name": (named("/etc/scalestudy"), "is absolute"),
    "name of a drive": (named("C:/windows/x"), "is absolute"),
    "home": (named("~/x"), "is absolute"),
    "parent folder": (named("top/../../x.json"), "leads to another folder"),
    "parent folder within": (named("top/runs/../plan.json"), "leads to another folder"),
    "backslash": (named("top\\..\\x.json"), "is not the name of a file"),
    "empty part": (named("top//plan.json"), "is not the name of a file"),
    "point": (named("top/./x.json"), "is not the name of a file"),
    "NUL": (nul, "is not the name of a file"),
    "control character": (named("top/runs/a-1/\x1b[2J.txt"), "has control characters"),
    "direction of writing": (named("top/runs/a-1/\u202etxt.json"), "has control characters"),
    "long name": (named("top/" + "a" * 300), "is too long"),
    "deep": (named("top/" + "a/" * 600 + "b"), "is too long"),
    "symbolic link": (of_mode(stat.S_IFLNK | 0o777), "is a link"),
    "character device": (of_mode(stat.S_IFCHR | 0o666), "is a device"),
    "block device": (of_mode(stat.S_IFBLK | 0o666), "is a device"),
    "pipe inside": (of_mode(stat.S_IFIFO | 0o666), "is a pipe"),
    "socket": (of_mode(stat.S_IFSOCK | 0o666), "is a socket"),
    "the same name twice": (named("top/plan.json"), "there twice"),
    "the same name in capitals": (named("top/PLAN.json"), "there twice"),
    "file and folder": (named("top/plan.json/run.json"), "is a file and a folder"),
    "two folders": (named("other/plan.json"), "one folder with all files"),
    "without a folder": (named("plan.csv"), "one folder with all files"),
    "unknown file": (named("top/sitecustomize.py"), "not a file of a deposit"),
    "settings of LaTeX": (named("top/.latexmkrc"), "not a file of a deposit"),
    "pickle": (named("top/runs/a-1/out.pt"), "not a file of a deposit"),
    "decompression bomb": (bomb, "more than 200 times its size"),
    "size that no study has": (declared(0xFFFFFFF0), "more than a study has"),
    "larger than declared": (declared(1), "damaged|differs from its checksum"),
    "shared data": (overlapping, "overlaps"),
    "other name in the file": (other_local_name, "damaged"),
    "encrypted": (encrypted, "is encrypted"),
    "packed with bzip2": (bzip2, "packed in a way"),
    "too many files": (many, "10000000 files"),
    "comment": (commented, "not a complete .zip archive"),
    "text in front": (with_text(b"#!/bin/sh\n", b""), "data in front of its files"),
    "text behind": (with_text(b"", b"x" * 30), "not a complete .zip archive"),
    "cut off": (cut, "not a complete .zip archive"),
    "changed byte": (flipped, "damaged|differs from its checksum"),
    "empty": (lambda path: path.write_bytes(b""), "not a complete .zip archive"),
    "tar": (tar, "not a complete .zip archive"),
    "pipe": (pipe, "is a pipe"),
    "folder": (lambda path: path.mkdir(), "is a folder"),
    "no checksums": (lambda path: write(path, sums=b""), "has no checksum"),
    "wrong checksum": (
        lambda path: write(path, sums=LISTED.replace(LISTED[:64], b"0" * 64)),
        "differs from its checksum",
    ),
    "checksum of a file that is missing": (
        lambda path: write(path, sums=LISTED + b"0" * 64 + b"  numbers.json\n"),
        "is missing",
    ),
    "checksums that are none": (lambda path: write(path, sums=b"<html>\n"), "line 1: not a checksum"),
    "checksum twice": (lambda path: write(path, sums=LISTED * 2), "line 4: not a checksum"),
}


def test_an_ordinary_archive_is_read(tmp_path: Path) -> None:
    """Otherwise the others could be refused for what they have in common."""
    write(tmp_path / "a.zip")
    with opened(tmp_path / "a.zip") as found:
        assert set(found.sums) == set(FILES)
        found.unpack(list(FILES), tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in FILES} == FILES


@pytest.mark.parametrize("case", HOSTILE)
def test_it_is_refused_and_nothing_is_written(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, said = HOSTILE[case]
    archive, folder = tmp_path / "a.zip", tmp_path / "out"
    make(archive)
    before = sorted(tmp_path.rglob("*"))
    tracemalloc.start()
    try:
        assert main(["report", str(archive), "--to", str(folder)]) == 2
        memory = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    message = capsys.readouterr().err
    assert re.search(said, message), message
    assert str(archive) in message
    assert len(message.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert memory < 64 << 20


def test_folders_of_another_zip_program_are_no_reason_to_refuse(tmp_path: Path) -> None:
    """Whoever unpacks a deposit and packs it again has the same files."""
    write(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as old, zipfile.ZipFile(tmp_path / "b.zip", "w") as new:
        for name in ("top/", "top/runs/", "top/runs/a-1/"):
            new.writestr(entry(name, stat.S_IFDIR | 0o755), b"")
        for one in old.infolist():
            new.writestr(one.filename, old.read(one))
    with opened(tmp_path / "b.zip") as found:
        assert set(found.sums) == set(FILES)


def test_the_limits_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.zip")
    for name, value, said in [
        ("MOST_FILES", 3, "4 files; a deposit has at most 3"),
        ("MOST_BYTES", 100, "more than a study has"),
        ("MOST_OF_ALL", 400, "more than a study has"),
        ("MOST_DIRECTORY", 100, "a deposit has at most"),
    ]:
        with monkeypatch.context() as limits:
            limits.setattr(reader, name, value)
            with pytest.raises(UserError, match=said), opened(tmp_path / "a.zip"):
                pass


def test_many_files_need_another_kind_of_directory(tmp_path: Path) -> None:
    """Above 65535 files the directory has a second form, which must be read as strictly."""
    files = {f"runs/a-1/{number}.txt": b"" for number in range(65_600)}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in [*files.items(), (SUMS, sums_of(files))]:
            archive.writestr(entry(f"study/{name}"), content)
    with opened(tmp_path / "a.zip") as found:
        assert len(found.sums) == len(files)


def test_any_damage_is_refused_in_one_line(tmp_path: Path) -> None:
    """Bytes that are changed, removed, repeated or inserted anywhere: an archive is read as it was, or refused."""
    path = tmp_path / "a.zip"
    write(path)
    whole = path.read_bytes()
    random = Random(5)
    refused = 0
    for _ in range(600):
        content = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            at, length = random.randrange(len(content)), random.randint(1, 40)
            match random.randrange(4):
                case 0:
                    content[at] ^= 1 << random.randrange(8)
                case 1:
                    del content[at : at + length]
                case 2:
                    content[at:at] = content[at : at + length]
                case 3:
                    content[at : at + 4] = random.choice([b"\0\0\0\0", b"\xff\xff\xff\xff", b"PK\x01\x02"])
        path.write_bytes(bytes(content))
        try:
            with opened(path) as found:
                assert {name: found.content(name) for name in found.sums} == FILES
        except UserError as error:
            refused += 1
            assert str(path) in str(error)
            assert "\n" not in str(error)
    assert refused > 400
