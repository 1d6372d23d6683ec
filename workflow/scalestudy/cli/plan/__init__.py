"""The lines of `scalestudy plan`."""
