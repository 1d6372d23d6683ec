"""The one exception that means "the user can put this right"; the command line prints it without a traceback."""


class UserError(ValueError):
    """Bad input. Its text names the key, file or run, and says what would be right."""
