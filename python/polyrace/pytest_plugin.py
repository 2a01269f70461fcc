"""pytest --polyrace: every test under `polyrace.trace`; a test whose launches race fails, with the report in the failure.

    pytest --polyrace                       # launches are analysed and not executed
    pytest --polyrace --polyrace-run        # and executed (needs a device)
    pytest --polyrace --polyrace-strict     # undecided launches fail too

The marker `@pytest.mark.polyrace(enabled=False)` leaves a test out; `@pytest.mark.polyrace(target="cuda:90")` and other
arguments of `polyrace.trace` apply to one test. Without the flag nothing is imported and nothing happens.
"""
from __future__ import annotations

from typing import Any, Generator

import pytest

_RESULTS = pytest.StashKey["list[Any]"]()
_SUMMARY = pytest.StashKey["dict[str, int]"]()


def pytest_addoption(parser: Any) -> None:
    g = parser.getgroup("polyrace", "data races of Triton kernels")
    g.addoption("--polyrace", action="store_true", help="fail tests whose Triton launches race")
    g.addoption("--polyrace-strict", action="store_true", help="also fail tests with launches that are not decided")
    g.addoption("--polyrace-run", action="store_true", help="also execute the launches (default: only analyse)")
    g.addoption("--polyrace-target", metavar="TARGET", help='compile for this target, for example "cuda:90"')


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "polyrace(enabled=True, **options): how --polyrace treats this test; "
                                       "options are those of polyrace.trace")
    if config.getoption("--polyrace"):
        config.stash[_SUMMARY] = {}


def _enabled(item: Any) -> "dict[str, Any] | None":
    """The trace options of a test, or None when it is not analysed."""
    if not item.config.getoption("--polyrace"):
        return None
    options: "dict[str, Any]" = {}
    for mark in reversed(list(item.iter_markers("polyrace"))):
        options.update(mark.kwargs)
    if not options.pop("enabled", True):
        return None
    options.setdefault("run", bool(item.config.getoption("--polyrace-run")))
    options.setdefault("target", item.config.getoption("--polyrace-target"))
    return options


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> "Generator[None, Any, None]":
    options = _enabled(item)
    if options is None:
        yield
        return
    import polyrace
    with polyrace.trace(**options) as t:
        outcome = yield
    item.stash[_RESULTS] = t.launches
    counts = item.config.stash[_SUMMARY]
    for x in t.launches:
        counts[x.status] = counts.get(x.status, 0) + 1
    if outcome.excinfo is not None:
        return
    from ._report import proved
    strict = item.config.getoption("--polyrace-strict")
    bad = [x for x in t.launches if x.verdict is not None and (x.verdict.faulty or (strict and not proved(x)))]
    if bad:
        outcome.force_exception(_failure(bad))


def _failure(bad: "list[Any]") -> BaseException:
    seen = dict.fromkeys(str(x) for x in bad)
    n = sum(x.verdict.faulty for x in bad)
    race = all(x.verdict.racy for x in bad if x.verdict.faulty)
    does = f"race{'s' if n == 1 else ''}" if race else f"race{'s' if n == 1 else ''} or {'waits' if n == 1 else 'wait'} wrongly"
    what = f"{n} launch{'' if n == 1 else 'es'} of this test {does}" if n else \
        f"{len(bad)} launch{'' if len(bad) == 1 else 'es'} of this test not decided"
    return pytest.fail.Exception(what + "\n\n" + "\n\n".join(seen), pytrace=False)


def pytest_report_header(config: Any) -> "str | None":
    if not config.getoption("--polyrace"):
        return None
    import polyrace
    return f"polyrace: {polyrace.__version__}, launches are {'executed' if config.getoption('--polyrace-run') else 'not executed'}"


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    counts = config.stash.get(_SUMMARY, None)
    if counts is None:
        return
    words = {"races": "with races", "deadlock": "with deadlocks", "hazard": "with hazards", "unsupported": "not decided",
             "not analysed": "not analysed", "vacuous": "without a claim", "ok": "race free"}
    total = ", ".join(f"{counts[s]} {w}" for s, w in words.items() if counts.get(s))
    n = sum(counts.values())
    terminalreporter.write_line(f"polyrace: {n} launch{'' if n == 1 else 'es'}" + (f": {total}" if total else ""))
