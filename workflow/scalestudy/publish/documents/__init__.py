"""LaTeX documents: report, proposal, and the artifact description, which a paper can include as well."""
