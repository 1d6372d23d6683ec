"""Documents for LaTeX: the report, the proposal, and the artifact description that both a paper and the report have."""
