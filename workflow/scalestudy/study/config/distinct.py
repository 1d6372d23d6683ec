"""Lists without repeated values."""


def distinct(values: tuple[object, ...]) -> tuple[object, ...]:
    """The same values. Raises ValueError if one is repeated."""
    doubles = sorted({str(value) for value in values if values.count(value) > 1})
    if doubles:
        raise ValueError(f"each may be listed once; repeated: {', '.join(doubles)}")
    return values
