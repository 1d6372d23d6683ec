"""What `scalestudy accept` runs where torch is: a process that proves the clocks, and a rank with a plain loop."""
