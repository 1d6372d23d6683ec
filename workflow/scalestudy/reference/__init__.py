"""Files generated from our models: documentation of the config, columns and captions, and JSON schemas."""
