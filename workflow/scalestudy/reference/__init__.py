"""What is generated from our models: the documentation of the config, and JSON schemas of the files we write."""
