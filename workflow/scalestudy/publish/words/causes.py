"""Texts about causes that the measurements neither establish nor rule out."""

UNCERTAIN = "{cause}; this cause is uncertain"
"""In brackets after advice for a cause that is only possible."""
POSSIBLY = "possibly "
"""Before a list of causes that are all only possible."""
WEIGHTS = (
    "A number in brackets after a cause is its weight: its cost per step, times the probability that it is beyond"
    " its threshold, as a share of the sum over all named causes. Unexplained is the loss that no named cause"
    " explains. Causes without a number are clear, or their cost is not known."
)
"""Above the findings, if causes have weights."""
