"""Large numbers as the field writes them."""

SI = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
"""Prefixes of units."""
COUNTS = (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3))
"""Abbreviations of counts: a model has 7 B parameters, not 7 G."""
WORDS = (("trillion", 1e12), ("billion", 1e9), ("million", 1e6))


def scaled(number: float, prefixes: tuple[tuple[str, float], ...] = COUNTS) -> str:
    """'42 M', '1.28 B': three digits and an abbreviation."""
    for prefix, size in prefixes:
        if float(f"{number:.3g}") >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number:.3g}"


def in_words(number: float) -> str:
    """'7 billion', '125 million', '65000': three digits and a word."""
    return scaled(number, WORDS) if float(f"{number:.3g}") >= 1e6 else f"{number:.0f}"
