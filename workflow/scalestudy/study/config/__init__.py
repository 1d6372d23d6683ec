"""The config model: what a study file may say, how it is read, and what is refused."""
