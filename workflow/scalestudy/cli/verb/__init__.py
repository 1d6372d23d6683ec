"""What people type: a function a verb; heavy imports wait until it is called."""
