"""Sets of points in time as sorted, disjoint, half-open intervals. A sum of lengths would count overlaps twice."""

from bisect import bisect_right
from collections.abc import Iterable

Spans = list[tuple[float, float]]


def union(intervals: Iterable[tuple[float, float]]) -> Spans:
    """Returns any intervals, in any order, as a set; empty ones are removed, touching ones are merged."""
    merged: Spans = []
    for begin, end in sorted(intervals):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def intersection(left: Spans, right: Spans) -> Spans:
    """Returns the intersection of two sets."""
    common: Spans = []
    i = j = 0
    while i < len(left) and j < len(right):
        begin, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if begin < end:
            common.append((begin, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common


def difference(left: Spans, right: Spans) -> Spans:
    """Returns the points in the first set that are not in the second."""
    if not left:
        return []
    ends = [left[0][0], *(edge for span in right for edge in span), left[-1][1]]
    gaps = zip(ends[::2], ends[1::2], strict=True)
    return intersection(left, [(begin, end) for begin, end in gaps if begin < end])


def length(spans: Spans) -> float:
    """Returns the time covered."""
    return sum(end - begin for begin, end in spans)


def contains(spans: Spans, time: float) -> bool:
    """Returns whether a point is in the set; the beginning of an interval is, its end is not."""
    index = bisect_right(spans, time, key=lambda span: span[0]) - 1
    return index >= 0 and time < spans[index][1]
