"""The config model, and the plan of runs that follows from it. This package reads study files and plans only."""
