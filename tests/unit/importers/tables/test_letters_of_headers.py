"""Letters in headers: accents and Greek letters of LaTeX, and the letter of the devices beside their name."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.latex_letters import with_letters
from scalestudy.importers.reading import read_published
from test_plain_tables import read, series


def tabular(*rows: str) -> str:
    inside = "".join(f"{row} \\\\\n" for row in rows)
    return f"\\begin{{tabular}}{{rrrr}}\n{inside}\\end{{tabular}}\n"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"c\oe urs", "cœurs"),
        (r"c{\oe}urs", "c{œ}urs"),
        (r"Efficacit\'e (\%)", r"Efficacité (\%)"),
        (r"Efficacit{\'e}", "Efficacit{é}"),
        (r"Aceleraci\'{o}n", "Aceleración"),
        (r"Beschleunigung f\"ur", "Beschleunigung für"),
        (r"fran\c{c}ais, fran\c cais", "français, français"),
        (r"tama\~no", "tamaño"),
        (r"Gr\"o\ss e, Gr\"o\ss{}e", "Größe, Größe"),
        (r"f\'{\i}sico, f\'\i sico", "físico, físico"),
        (r"\'Etude \AA rhus, k\o rsel", "Étude Århus, kørsel"),
        (r"po\v{c}et, wydajno\'s\'c, w\k{a}tki", "počet, wydajność, wątki"),
    ],
)
def test_letters_of_latex(latex: str, text: str) -> None:
    assert with_letters(latex) == text


@pytest.mark.parametrize(
    "latex", [r"1 & 2 \\'s", r"$T_1 \odot \omega$", r"\hline \cline{1-2}", r"\\% a", r"10\^3", r"\label{c}"]
)
def test_other_commands_of_latex_are_no_letters(latex: str) -> None:
    assert with_letters(latex) == latex


def test_headers_with_accents_of_latex_are_read(tmp_path: Path) -> None:
    text = tabular(
        r"Nombre de c\oe urs & Temps (s) & Acc\'el\'eration & Efficacit\'e (\%)",
        "1 & 120,4 & 1,00 & 100,0",
        "2 & 61,3 & 1,96 & 98,2",
        "4 & 33,0 & 3,85 & 91,2",
    )
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.96), (4, 3.65)]}
    assert (audit.checked.speedups, audit.checked.efficiencies) == (3, 3)
    assert [remark.kind for remark in audit.remarks] == ["speedup"]


LETTERS = (
    "1 & 120.4 & 1.00 & 1.00",
    "2 & 61.3 & 1.96 & 0.98",
    "4 & 33.0 & 3.85 & 0.91",
    "8 & 17.9 & 6.72 & 0.84",
)


def test_greek_letters_are_the_ratios_that_their_numbers_follow_as(tmp_path: Path) -> None:
    text = tabular(r"$p$ & $T_\mathrm{par}$ & $\psi$ & $\varepsilon$", *LETTERS)
    (audit,), _, _ = read(tmp_path, text)
    assert [one.header for one in audit.source.columns] == ["p", "T_par", "ψ", "ε"]
    assert (audit.checked.speedups, audit.checked.efficiencies) == (4, 4)
    assert [remark.kind for remark in audit.remarks] == ["speedup"]


def test_a_greek_letter_of_something_else_is_named(tmp_path: Path) -> None:
    text = tabular(r"$p$ & $T_\mathrm{par}$ & $\lambda$ & $\sigma$", *LETTERS[:2], "4 & 33.0 & 1.2 & 0.91")
    text = text.replace("1.96", "1.1")
    path = tmp_path / "table.tex"
    path.write_text(text, encoding="utf-8")
    (table,) = read_published(path).tables
    assert table.unread == ("λ", "σ")


def test_efficiencies_of_weak_scaling_below_a_greek_letter(tmp_path: Path) -> None:
    text = """
Weak scaling.

| $p$ | $T_p$ [s] | $\\eta$ |
|---|---|---|
| 1 | 120.4 | 1.00 |
| 2 | 123.3 | 0.976 |
| 4 | 126.0 | 0.956 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.checked.efficiencies) == (0, 3)
    assert not audit.remarks


@pytest.mark.parametrize(
    ("header", "role"), [("$T_\\mathrm{par}$ [s]", "time_s"), ("$\\mathrm{S}_p$", "printed_speedup")]
)
def test_letters_with_an_upright_index(header: str, role: str) -> None:
    assert meaning_of(header).role == role


@pytest.mark.parametrize(
    ("header", "role", "unit"),
    [
        ("GPUs $N$", "gpus", ""),
        ("Prozesse p", "gpus", ""),
        ("Number of processes, p", "gpus", ""),
        ("Threads n", "gpus", ""),
        ("Cores (c)", "gpus", ""),
        ("Nodes N", "nodes", ""),
        ("GPU W", "ignore", ""),
        ("GPU h", "ignore", ""),
        ("E_N [%]", "printed_efficiency", ""),
        ("E(p), %", "printed_efficiency", ""),
        ("Ep [%]", "printed_efficiency", ""),
        ("EP", "label", ""),
        ("S_N", "printed_speedup", ""),
        ("t_N [s]", "time_s", "s"),
        ("T, s", "time_s", "s"),
        ("T_p, ms", "time_s", "ms"),
        ("T, K", "ignore", ""),
    ],
)
def test_letters_of_devices_and_of_what_depends_on_them(header: str, role: str, unit: str) -> None:
    assert (meaning_of(header).role, meaning_of(header).unit) == (role, unit)


def test_ratios_with_the_letter_of_their_devices(tmp_path: Path) -> None:
    text = """
| Prozesse p | T, s | S(p) | E(p), % |
|---|---|---|---|
| 1 | 46.4 | 1.00 | 100 |
| 2 | 23.5 | 1.97 | 99 |
| 4 | 12.3 | 3.77 | 84 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.checked.efficiencies) == (3, 3)
    assert [remark.kind for remark in audit.remarks] == ["efficiency"]
