"""Commands beside those of the package."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from rosenblatt import checker


def alone(certificate, data, *options):
    """Run the checker by itself; give its exit status and what it prints.

    That it does so as a script that sees nothing of the package, `test_checker.py` tells.
    """
    with redirect_stdout(StringIO()) as shown, redirect_stderr(StringIO()):
        status = checker.main([str(certificate), str(data), *options])
    return status, shown.getvalue()
