"""The command line: thin, without algorithms."""
