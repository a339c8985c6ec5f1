"""``python -m rosenblatt`` is the command ``rosenblatt``."""

from rosenblatt.cli.entry import enter

if __name__ == "__main__":
    enter()
