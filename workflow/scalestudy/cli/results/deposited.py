"""Makes the archive of a study, and rebuilds the documents of an archive."""

from __future__ import annotations

import tempfile
from pathlib import Path

from scalestudy.cli.results.inputs import book_of, documented, plan_of
from scalestudy.cli.results.remade import make_documents, typeset_documents
from scalestudy.deposit import environment, layout
from scalestudy.deposit.archive import checksums, write_archive
from scalestudy.deposit.compared import Documents, compare, other_numbers
from scalestudy.deposit.describe import write_descriptions
from scalestudy.deposit.model import Creator, DepositFile, refuse_long
from scalestudy.deposit.opened import Deposit, empty, opened
from scalestudy.deposit.private import paths_in, refuse_secrets
from scalestudy.deposit.tables import described
from scalestudy.deposit.texts import deposit_texts
from scalestudy.errors import UserError
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.words.labels import counted
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import read_file, write_bytes, write_text
from scalestudy.record.host.environment import source_commit
from scalestudy.registry.results import RESULTS
from scalestudy.study.plan import Plan

COMMAND = f"scalestudy run --study {layout.STUDY}"
"""The command of a study whose own is not known: the archive has this file."""
MOST_LINES = 20


def deposit(
    results: Path,
    target: Path | None,
    licence: str,
    creators: tuple[Creator, ...],
    title: str,
    scripts: tuple[Path, ...] = (),
) -> None:
    """Write the archive of a study, with documents that are made now, and print what it has.

    scripts: training scripts that are published too.
    """
    plan = plan_of(results)
    study = plan.study.name
    target = target or Path(f"{study}.zip")
    if target.exists():
        raise UserError(f"{target}: exists; name another file with --to")
    refuse_long(title, "--title")
    title = title or f"Scaling study {study}: {', '.join(plan.study.workloads)}"
    with tempfile.TemporaryDirectory(prefix="scalestudy-deposit-") as name:
        folder = Path(name) / study
        measured = list(layout.measured_files(results, plan))
        _copy(results, measured, folder)
        if not (folder / RESULTS["command"]).exists() and not plan.study.imported:
            write_text(folder / RESULTS["command"], f"{COMMAND}\n")
            measured.append(RESULTS["command"])
        measured += _add_scripts(scripts, folder)
        variables = _variables(plan)
        refuse_secrets(folder, measured, variables)  # before anything takes long
        make_documents(folder)
        missing = typeset_documents(folder)
        _tell_changes(results, folder)
        made = layout.made_files(folder)
        refuse_secrets(folder, made, variables)
        commit, dirty = source_commit()
        locked = environment.packages()
        about = DepositFile(
            study=study,
            title=title,
            licence=licence,
            creators=creators,
            scalestudy=locked[environment.PACKAGE],
            commit=commit or "",
            dirty=dirty,
            python=environment.python(),
            system=environment.system(),
            latex="" if missing else environment.latex(),
            packages=locked,
            scripts=tuple(path.name for path in scripts),
            left_out=tuple(layout.left_out(results, set(measured))),
            paths_kept=paths_in(folder, [*measured, *made]),
        )
        write_document(folder / layout.DEPOSIT, about)
        _add(folder, about)
        names = sorted({*measured, *layout.made_files(folder), layout.DEPOSIT})
        refuse_secrets(folder, [*layout.TEXTS], variables)
        write_archive(target, folder, names, top=study)
    digest = checksums(target.parent, [target.name])[target.name]
    print(
        f"{target}: {counted(len(names) + 1, 'file')}, {target.stat().st_size / 2**20:.1f} MiB, SHA-256 {digest}"
    )
    if about.left_out:
        print(f"not included: {', '.join(about.left_out)}")
    if about.paths_kept:
        print(
            "folders of this machine are in " + ", ".join(f"{file} ({n})" for file, n in about.paths_kept.items())
        )
    if missing:
        print(f"no PDFs: {missing}")


def _copy(results: Path, names: list[str], folder: Path) -> None:
    """Copy files of a results folder, which may come from someone else: no link to a file outside is followed."""
    for name in names:
        write_bytes(folder / name, read_file(results / name), lasting=False)


def _add_scripts(scripts: tuple[Path, ...], folder: Path) -> list[str]:
    """Copy training scripts, and return their names in the archive. Raises UserError for a name it cannot have."""
    names = [f"{layout.SCRIPTS}/{path.name}" for path in scripts]
    for path, name in zip(scripts, names, strict=True):
        if not layout.is_known(name) or names.count(name) > 1:
            raise UserError(
                f"--script {path}: two scripts of this name, or not a name for an archive; rename a copy"
            )
        write_bytes(folder / name, read_file(path), lasting=False)
    return names


def _variables(plan: Plan) -> dict[str, str]:
    """The variables that a study gives its scripts."""
    study = plan.study
    found = dict(study.host.environment)
    for one in (*study.workloads.values(), *study.variants.values()):
        found |= getattr(one, "environment", {})
    return found


def _tell_changes(results: Path, folder: Path) -> None:
    """Print how documents of the study differ from those made now, which are the ones of the archive."""
    before, now = layout.made_files(results), layout.made_files(folder)
    both = [name for name in now if name in before]
    found = compare(checksums(results, both), checksums(folder, both))
    if not found.other:
        return
    print(f"rebuilt, since another version or environment had written them: {_listed(found.other)}")
    if (results / RESULTS["numbers"]).exists():
        print("\n".join(_numbers(book_of(results), book_of(folder))))


def _add(folder: Path, about: DepositFile) -> None:
    """Write the files that describe a deposit."""
    from scalestudy.publish.documents.report import latex_facts
    from scalestudy.publish.views.facts import document_facts

    plan, found, book = documented(folder)
    facts = document_facts(plan, found, book)
    dates = latex_facts(found, facts)["dates"]
    hosts = bool(found.runs["hosts"].notna().any())
    for name, text in deposit_texts(plan, facts, about, dates=dates, hosts=hosts).items():
        write_text(folder / name, text)
    started = found.runs["started_at"].dropna().astype(str)
    write_descriptions(
        folder,
        about.study,
        list(described(folder, runs=list(plan.runs))),
        about,
        dated=started.max()[:10] if len(started) else "",
    )


def rebuild(archive: Path, folder: Path | None) -> int:
    """Rebuild the documents of an archive in a new folder, and print whether they are equal.

    Returns 0 if all are equal, else 1.
    """
    folder = folder or Path(f"{archive.stem}-rebuilt")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: exists and is not empty; name another folder with --to")
    with opened(archive) as found:
        before = {name: sums for name, sums in found.sums.items() if layout.is_made(name)}
        print(f"{archive}: {counted(len(found.sums), 'file')}, all with the checksums of {layout.SUMS}")
        created = not folder.exists()
        try:
            found.unpack([name for name in found.sums if name not in before], folder)
            about = read_document(folder / layout.DEPOSIT, DepositFile)
            make_documents(folder)
            missing = typeset_documents(folder) if any(name.endswith(".pdf") for name in before) else ""
            _add(folder, about)
            book = _book(found)
        except BaseException:
            empty(folder, remove=created)
            raise
    made = compare(before, checksums(folder, layout.made_files(folder)))
    _tell(folder, made, missing)
    if RESULTS["numbers"] not in made.equal:
        print("\n".join(_numbers(book, book_of(folder))))
    else:
        print(f"{RESULTS['numbers']}: {counted(len(book.numbers), 'number')}, all equal")
    if not made.all_equal and (versions := environment.other_versions(about.packages)):
        print(f"other versions: {_listed(versions)}")
    left = [name for name in made.missing if not (missing and name.endswith(".pdf"))]
    return 1 if made.other or made.new or left else 0


def _book(found: Deposit) -> NumbersFile:
    """Return the numbers of the archive."""
    with tempfile.TemporaryDirectory(prefix="scalestudy-numbers-") as name:
        found.unpack([RESULTS["numbers"]], Path(name))
        return book_of(Path(name))


def _tell(folder: Path, made: Documents, missing: str) -> None:
    total = len(made.equal) + len(made.other)
    print(f"{folder}: {counted(total, 'document')} rebuilt, {len(made.equal)} equal byte for byte")
    if made.other:
        print(f"not equal: {_listed(made.other)}")
    pdfs = [name for name in made.missing if missing and name.endswith(".pdf")]
    if pdfs:
        print(f"not rebuilt: {', '.join(pdfs)}: {missing}")
    if left := [name for name in made.missing if name not in pdfs]:
        print(f"not rebuilt: {_listed(left)}")
    if made.new:
        print(f"not in the archive: {_listed(made.new)}")


def _numbers(before: NumbersFile, now: NumbersFile) -> list[str]:
    """Lines on whether the numbers are the same."""
    other = other_numbers(before, now)
    name, count = RESULTS["numbers"], counted(len(before.numbers), "number")
    if not other:
        return [f"{name}: {count}, all equal"]
    more = [f"  and {len(other) - MOST_LINES} more"] if len(other) > MOST_LINES else []
    return [f"{name}: {len(other)} of {count} differ", *(f"  {line}" for line in other[:MOST_LINES]), *more]


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - MOST_LINES} more" if len(names) > MOST_LINES else ""
    return f"{', '.join(names[:MOST_LINES])}{more}"
