"""Documents for LaTeX: report, proposal, and the artifact description that a paper can have too."""
