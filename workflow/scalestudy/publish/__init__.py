"""From analysed data to what a reader holds: figures, LaTeX, text, HTML. Computes nothing."""
