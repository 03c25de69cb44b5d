"""What is written about events, and how it reaches people."""
