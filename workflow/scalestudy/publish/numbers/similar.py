"""Keys that a user may have meant."""

from difflib import get_close_matches

from scalestudy.publish.numbers.model import NumbersFile


def similar_keys(numbers: NumbersFile, key: str) -> str:
    """The keys below a key, or else those with similar spelling, as the end of an error."""
    keys = list(numbers.numbers)
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers.aliases, *numbers.points], n=5, cutoff=0.5)
    if below:
        more = f" and {len(below) - 8} more" if len(below) > 8 else ""
        return f"matching keys are {', '.join(below[:8])}{more}"
    return f"similar keys are {', '.join(near)}" if near else f"keys start with {', '.join(numbers.points)}"
