"""HTML for notebooks: one box a verdict, the text report inside."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._launch import Launch
    from .verdict import Verdict

_COLORS = {"ok": "#1a7f37", "races": "#cf222e", "deadlock": "#cf222e", "hazard": "#cf222e", "unsupported": "#9a6700", "vacuous": "#9a6700"}


def _box(status: str, title: str, body: str, opened: bool) -> str:
    color = _COLORS.get(status, "#57606a")
    return (f'<details {"open" if opened else ""} style="border-left:4px solid {color};padding:2px 8px;margin:2px 0">'
            f'<summary style="cursor:pointer">{title}</summary>'
            f'<pre style="margin:4px 0;line-height:1.25">{html.escape(body)}</pre></details>')


def verdict_html(v: "Verdict") -> str:
    """A verdict: its headline, and the report to unfold (unfolded when it races)."""
    title = f"<b>{html.escape(v.kernel)}</b>: {html.escape(v.headline())}"
    return _box(v.status, title, str(v), v.faulty)


def launch_html(launch: "Launch") -> str:
    """A recorded launch: the same with its place."""
    if launch.verdict is None:
        return _box("", f"<b>{html.escape(launch.kernel)}</b>: not analysed", launch.site, False)
    v = launch.verdict
    title = f"<b>{html.escape(v.kernel)}</b> {html.escape(launch.site)}: {html.escape(v.headline())}"
    return _box(v.status, title, str(v), v.faulty)


def trace_html(launches: "list[Launch]") -> str:
    """All launches of a trace, one box each."""
    return "".join(launch_html(x) for x in launches) or "<i>no Triton kernel was launched</i>"
