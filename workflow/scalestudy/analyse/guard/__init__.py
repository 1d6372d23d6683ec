"""Is a change of the code or of its place within a limit: what a guard decides, from launches before and after."""
