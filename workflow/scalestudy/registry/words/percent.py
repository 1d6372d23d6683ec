"""Shares as per cent, with the space that the SI asks for between a number and its unit."""


def percent(share: float, decimals: int = 0, *, signed: bool = False) -> str:
    """'75 %', '2.9 %', '+3.0 %' from 0.75, 0.029, 0.03."""
    return f"{100 * share:{'+' if signed else ''}.{decimals}f} %"
