"""The report: one page that tells every experiment, with its pictures inside.

Nothing is fetched: pictures are part of the file, and there is no script but that of an animation.
"""

from __future__ import annotations

import base64
import datetime
import platform
from collections.abc import Sequence
from html import escape
from pathlib import Path

import rosenblatt
from rosenblatt.blocks import cores
from rosenblatt.data.files import write_atomically
from rosenblatt.lab.catalogue import NAMES, find
from rosenblatt.lab.runner import FAILED, Outcome, Schedule

FAILURES_SHOWN = 5

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>The perceptron in the laboratory</title>
<style>
  :root {{ color-scheme: light; }}
  body {{ font: 17px/1.55 Georgia, "Times New Roman", serif; color: #222; background: #fff;
         margin: 0 auto; max-width: 46rem; padding: 2rem 1.2rem 4rem; }}
  h1, h2, nav, dt, th, .note {{ font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }}
  h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0 0 .6rem; }}
  h2 {{ font-size: 1.3rem; margin: 0 0 .3rem; }}
  section {{ border-top: 1px solid #ddd; margin-top: 2.6rem; padding-top: 1.4rem; }}
  nav ol {{ columns: 18rem; font-size: .92rem; padding-left: 1.6rem; }}
  a {{ color: #0060a0; }}
  .question {{ font-size: 1.1rem; font-style: italic; margin: 0 0 .8rem; }}
  figure {{ margin: 1.2rem 0; }}
  img {{ display: block; width: 100%; height: auto; }}
  .theorem {{ border-left: 3px solid #0072b2; margin: 1rem 0; padding: .1rem 0 .1rem 1rem; }}
  .note {{ color: #666; font-size: .82rem; }}
  .bad {{ color: #a03000; }}
  .wide {{ overflow-x: auto; }}
  table {{ border-collapse: collapse; font-size: .88rem; margin: 1rem 0; }}
  th, td {{ border-bottom: 1px solid #ddd; padding: .25rem .7rem .25rem 0; text-align: left; }}
  td.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
  @media print {{ section {{ break-inside: avoid; }} nav {{ display: none; }} }}
</style>
</head>
<body>
<h1>The perceptron in the laboratory</h1>
<p>{summary}</p>
<nav aria-label="experiments"><ol>
{contents}
</ol></nav>
{sections}
<footer><section class="note">{footer}</section></footer>
</body>
</html>
"""


def write_report(plan: Schedule, outcomes: Sequence[Outcome], seconds: float) -> Path:
    """Write ``report.html`` into the folder of a plan; give its path."""
    page = _PAGE.format(
        summary=_summary(outcomes),
        contents="\n".join(_entry(outcome) for outcome in outcomes),
        sections="\n".join(_section(outcome, plan) for outcome in outcomes),
        footer=_footer(plan, outcomes, seconds),
    )
    path = plan.out / "report.html"
    write_atomically(path, page.encode())
    return path


def _summary(outcomes: Sequence[Outcome]) -> str:
    rows = sum(len(outcome.rows) for outcome in outcomes)
    many = f"{len(outcomes)} experiments" if len(outcomes) > 1 else "One experiment"
    bounded = sum(bool(find(outcome.name).bounds) for outcome in outcomes)
    above = sum(outcome.above for outcome in outcomes)
    verdict = "nothing lies above its bound in any row."
    if above:
        verdict = f"<strong class='bad'>{above:,} rows lie above a bound: a defect.</strong>"
    where = f" of {bounded}" if len(outcomes) > 1 else ""
    judged = f" A theorem bounds the measurements{where}: {verdict}" if bounded else ""
    return f"{many}, {rows:,} rows measured.{judged}"


def _entry(outcome: Outcome) -> str:
    experiment = find(outcome.name)
    return f'<li><a href="#{experiment.name}">{escape(experiment.title)}</a></li>'


def _section(outcome: Outcome, plan: Schedule) -> str:
    experiment = find(outcome.name)
    pieces = [
        f'<section id="{experiment.name}">',
        f"<h2>{escape(experiment.title)}</h2>",
        f'<p class="question">{escape(experiment.question)}</p>',
        f"<p>{escape(experiment.setup)}</p>",
        _picture(plan.out / experiment.name / "figure.svg", experiment.title),
        f"<p>{escape(outcome.seen)}</p>",
        outcome.more,
        f'<div class="theorem"><p>{escape(experiment.theorem)}</p></div>',
        _failures(outcome),
        f'<p class="note">{_rows_note(outcome, plan)}</p>',
        "</section>",
    ]
    return "\n".join(piece for piece in pieces if piece)


def _picture(path: Path, title: str) -> str:
    if not path.exists():
        return '<p class="bad">There is no figure, since every case failed.</p>'
    content = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure><img alt="Figure: {escape(title)}" src="data:image/svg+xml;base64,{content}">'
        "</figure>"
    )


def _failures(outcome: Outcome) -> str:
    if not outcome.failed:
        return ""
    some = "".join(f"<li>{escape(row[FAILED])}</li>" for row in outcome.failed[:FAILURES_SHOWN])
    return (
        f'<div class="bad"><p>{len(outcome.failed)} of {len(outcome.rows)} rows are failures:</p>'
        f"<ul>{some}</ul></div>"
    )


def _rows_note(outcome: Outcome, plan: Schedule) -> str:
    files = ("rows.csv", "rows.parquet", "figure.svg", "figure.png")
    folder = find(outcome.name).name
    links = ", ".join(f'<a href="{folder}/{file}">{file}</a>' for file in files)
    return (
        f"{len(outcome.rows):,} rows in {outcome.seconds:.1f} s of one core; beside this page: "
        f"{links}. Again: <code>{_command(plan, outcome.name)}</code>"
    )


def _command(plan: Schedule, *names: str) -> str:
    size = ["--quick"] if plan.quick else []
    return escape(" ".join(["rosenblatt lab", *names, *size, f"--seed {plan.seed}"]))


def _footer(plan: Schedule, outcomes: Sequence[Outcome], seconds: float) -> str:
    names = ("all",) if plan.names == NAMES else plan.names
    today = datetime.date.today().isoformat()
    return (
        f"rosenblatt {rosenblatt.__version__}, Python {platform.python_version()}, "
        f"{cores()} cores, {today}. {sum(o.seconds for o in outcomes):.0f} s of one core in all, "
        f"{seconds:.0f} s of waiting since it was last started. Command: "
        f"<code>{_command(plan, *names)}</code>. Times depend on the machine; all else on the seed."
    )
