"""Checking certificates at the speed of a pass; `rosenblatt.checker` is the plain one."""
