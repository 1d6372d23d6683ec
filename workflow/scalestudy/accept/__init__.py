"""Does the instrument work on this machine? What is launched, what is checked, and the document that says so."""
