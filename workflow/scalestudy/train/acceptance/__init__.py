"""The parts of `scalestudy accept` that need torch: a check of the clocks, and a rank with a plain loop."""
