"""What else the host did while a launch was measured."""
