"""Greek letters by the names that LaTeX has for them."""

from __future__ import annotations

import re

_NAMES = {
    "alpha": "\u03b1",
    "beta": "\u03b2",
    "gamma": "\u03b3",
    "delta": "\u03b4",
    "epsilon": "\u03b5",
    "varepsilon": "\u03b5",
    "zeta": "\u03b6",
    "eta": "\u03b7",
    "theta": "\u03b8",
    "kappa": "\u03ba",
    "lambda": "\u03bb",
    "nu": "\u03bd",
    "xi": "\u03be",
    "rho": "\u03c1",
    "sigma": "\u03c3",
    "tau": "\u03c4",
    "phi": "\u03c6",
    "varphi": "\u03c6",
    "chi": "\u03c7",
    "psi": "\u03c8",
    "omega": "\u03c9",
    "Gamma": "\u0393",
    "Delta": "\u0394",
    "Theta": "\u0398",
    "Lambda": "\u039b",
    "Sigma": "\u03a3",
    "Phi": "\u03a6",
    "Psi": "\u03a8",
    "Omega": "\u03a9",
}
"""Those that headers have. mu is the factor of a unit."""
_NAMED = re.compile(rf"(?<!\\)\\({'|'.join(_NAMES)})(?![A-Za-z]) ?")


def with_greek_letters(text: str) -> str:
    """Return a text of LaTeX with its names of Greek letters as letters: \u03c8 for \\psi."""
    return _NAMED.sub(lambda found: _NAMES[found[1]], text) if "\\" in text else text
