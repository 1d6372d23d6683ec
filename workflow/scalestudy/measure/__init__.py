"""When enough was measured: steady state, batch means, stopping. Arrays in, decisions out.

Used while a run is under way and by the analysis after it, so it stands below both.
"""
