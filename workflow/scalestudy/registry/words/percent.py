"""Shares as per cent, with the space that the SI asks for between a number and its unit."""


def percent(share: float, decimals: int = 0, *, signed: bool = False) -> str:
    """'75 %', '2.9 %', '+3.0 %' from 0.75, 0.029, 0.03."""
    return f"{100 * share:{'+' if signed else ''}.{decimals}f} %"


def percent_digits(share: float, digits: int) -> str:
    """'0.12 %', '99.17 %' from 0.0012 with 2 digits and 0.99167 with 4; no trailing zeros."""
    return f"{100 * share:.{digits}g} %"
