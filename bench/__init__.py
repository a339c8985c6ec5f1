"""Races of rosenblatt against its peers and the machine: `python -m bench`."""
