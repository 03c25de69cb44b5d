"""The built-in sample server and the guided tour."""
