"""The command `serve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE


@click.command
@click.argument("folder", type=FILE, required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8377,
    show_default=True,
    help="Port; 0 takes a free one.",
)
@click.option(
    "--token-file",
    type=FILE,
    help="File with the token that clients must send; required unless --host is local.",
)
@click.option(
    "--max-body", type=click.IntRange(1), help="Largest request, in bytes. [default: 1048576]"
)
@click.option(
    "--max-learners", type=click.IntRange(1), help="Maximum number of learners. [default: 100]"
)
@click.option(
    "--max-features",
    type=click.IntRange(1),
    help="Maximum number of features of a learner. [default: 1000000]",
)
@click.option(
    "--max-rate",
    type=click.FloatRange(0),
    help="Requests per second from another machine; 0 for no limit. [default: 1000]",
)
@click.option(
    "--log",
    type=click.Choice(["requests", "errors", "none"]),
    default="errors",
    show_default=True,
    help="Which requests to log, as lines of JSON on standard error.",
)
@options.json
def serve(
    folder: Path | None,
    host: str,
    port: int,
    token_file: Path | None,
    log: str,
    json: bool,
    **limits: Any,
) -> None:
    """Serve learners over HTTP, with an inbox page and a playground.

    The inbox is at /, the playground at /play. By default the FOLDER is rosenblatt in the user's
    data folder, whose learner `mail` is the filter of `rosenblatt mail`. Corrections
    are on disk before they are acknowledged. Ctrl-C stops the server.
    """
    from rosenblatt.cli.printing import show
    from rosenblatt.errors import optional_module
    from rosenblatt.mail.filter import default_folder

    for library in ("fastapi", "uvicorn", "httptools"):
        optional_module(library, "serve")
    from rosenblatt.serve.server import Settings, serve
    from rosenblatt.serve.service import LIMITS

    given = {name[4:]: value for name, value in limits.items() if value is not None}
    where = folder or default_folder().parent
    settings = Settings(
        where.absolute(), host, port, _token(token_file), LIMITS._replace(**given), log
    )

    def tell(url: str) -> None:
        show({"serving": url, "folder": str(settings.folder)}, json)
        sys.stdout.flush()

    serve(settings, tell)


def _token(file: Path | None) -> str | None:
    from rosenblatt.errors import InputError

    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the token from {file}: {error}") from error
