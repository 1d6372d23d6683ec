"""Rules for sufficient measurements: steady state, batch means, stopping. Arrays in, decisions out.

Used during a run and by the analysis after it, so neither of them is imported here.
"""
