"""Learners over HTTP: what is taught is on disk before it is acknowledged; pages for people."""
