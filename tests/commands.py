"""Commands beside those of the package."""

import subprocess
import sys

from rosenblatt import checker


def alone(certificate, data, *options):
    """Run the checker by itself; give its exit status and what it prints."""
    words = [sys.executable, "-I", checker.__file__, str(certificate), str(data), *options]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stdout
