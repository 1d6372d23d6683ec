"""The config model: the keys of a study file, how it is read, and what is refused."""
