"""Where the time of a traced step goes."""
