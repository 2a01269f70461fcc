"""The part of a certificate about a launch that was executed whole, for recheck.py: executionK.txt lists every execution of every access
operation, with the address of each lane. Worked out here: no two of them race (happens-before within a program: barriers, one lane of one
operation, dependencies; between programs atomics that meet exactly, and what waits need: recheck_waits.py). Shares no code with the analyser."""
from __future__ import annotations

from math import prod
from typing import Dict, List, Optional, Set, Tuple

if __package__:
    from .recheck_text import Rejected, _parse
    from .recheck_waits import Unsettled, Waits
else:
    from recheck_text import Rejected, _parse
    from recheck_waits import Unsettled, Waits

_READS = ("load", "atomic_load", "atomic_poll")
_MOST_PAIRS = 3_000_000


class Site:
    def __init__(self, f: dict):
        self.where, self.kind, self.width, self.scope = f["site"], f["kind"][0], int(f["width"][0]), f["scope"][0]
        self.lanes, self.sem, self.rmw = int(f["lanes"][0]), f["sem"][0], "none"
        self.desc, self.position, self.replicated = f["via"] == ["desc"], f["position"] == ["yes"], f["replicated"] == ["yes"]
        self.writes, self.atomic = self.kind not in _READS, self.kind.startswith("atomic")
        self.arguments: List[int] = []


class Run:
    def __init__(self, line: list):
        f = {x[0]: x[1:] for x in line[4:]}
        self.number, self.site, self.program = (int(x) for x in line[1:4])
        self.generation, self.count, self.low, self.high = (int(x) for x in f["epoch"])
        self.arms = [tuple(int(y) for y in x.split(":")) for x in f["arms"]]
        self.after = [int(x) for x in f["after"]]
        self.lanes: Dict[int, Tuple[Optional[int], str]] = {}
        for x in f["lanes"]:
            lane, at = x.split(":")
            mark = at.lstrip("?0123456789")
            if int(lane) in self.lanes or mark.strip("mo"):
                raise Rejected(f"execution: a lane of run {self.number} that cannot be read")
            at = at[:len(at) - len(mark)]
            self.lanes[int(lane)] = (None if at == "?" else int(at), mark)


class Execution:
    def __init__(self, text: str, config: dict, records, qualifiers: List[str], starts: Dict[int, List[int]]):
        self.config, self.records, self.qualifiers, self.starts = config, records, qualifiers, starts
        self.sites: Dict[int, Site] = {}
        self.runs: Dict[int, Run] = {}
        self.contents: List[int] = []
        self.used_dependency = self.used_waits = False
        self.races: Set[Tuple[str, str, str]] = set()                  # sites of two executions that nothing orders, and whose they are
        waits: List[list] = []
        grid: Optional[List[int]] = None
        for line in _parse(text):
            if line[0] == "execution":
                f = {x[0]: x[1:] for x in line[2:]}
                if line[1] != "1":
                    raise Rejected(f"execution: version {line[1]} is not known")
                grid, self.contents = [int(x) for x in f["grid"]], [int(x) for x in f["contents"]]
            elif line[0] == "at":
                self.sites[int(line[1])] = Site({x[0]: x[1:] for x in line[2:]})
            elif line[0] == "ran":
                run = Run(line)
                if run.number != len(self.runs):
                    raise Rejected("execution: the runs are not numbered from 0")
                self.runs[run.number] = run
            elif line[0] in ("compiler", "atomic", "tried", "only"):
                waits.append(line)
            else:
                raise Rejected(f"execution: a line that no certificate has: {line[0]}")
        if grid is None or grid != config["grid"] or config["rung"] not in ("T1-launch", None):
            raise Rejected("execution: it is not about this launch")
        self.programs = grid[0] * grid[1] * grid[2]
        for s in self.sites.values():
            mine = [r for r in records.items.values() if r["site"] == s.where]
            for r in mine:
                same = r["kind"][0] == s.kind and int(r["width"][0]) == s.width and (r["via"] == ["desc"]) == s.desc
                if not same or (s.atomic and (r["scope"][0], r["sem"][0]) != (s.scope, s.sem)) or s.lanes != prod(int(n) for n in r["shape"]):
                    raise Rejected(f"execution: the operation at {' '.join(s.where)} is another one in the records")
            if not mine:
                raise Rejected(f"execution: the operation at {' '.join(s.where)} has no record")
            s.arguments, s.rmw = [int(r["base"][0]) for r in mine], mine[0]["rmw"][0]
        self.waits = Waits(waits, self)

    def check(self) -> int:
        """How many executions; `races` then has the operations of which two race. Raises when something is not as it has to be."""
        self._places()
        at: Dict[int, List[Tuple[Run, int, int]]] = {}
        for run in self.runs.values():
            for lane, (address, mark) in run.lanes.items():
                if address is None or "o" in mark:
                    continue
                for byte in range(address, address + self.sites[run.site].width):
                    at.setdefault(byte, []).append((run, lane, address))
        pairs = 0
        for entries in at.values():
            if not any(self.sites[r.site].writes for r, _, _ in entries) or self._all_atomic(entries):
                continue
            pairs += len(entries) * (len(entries) - 1) // 2
            if pairs > _MOST_PAIRS:
                raise Unsettled("too many executions at one byte")
            for i, (x, a, p) in enumerate(entries):
                for y, b, q in entries[:i]:
                    self._pair(x, a, p, y, b, q)
        if self.config["status"] == "ok":                         # premises of proofs do not qualify a race
            self._qualified()
        return len(self.runs)

    def _qualified(self) -> None:
        """What the verdict rests on is said."""
        if self.used_dependency and "assumes unreplicated loads" not in self.qualifiers:
            raise Rejected("execution: a dependency orders two accesses, but no qualifier says 'assumes unreplicated loads'")
        if self.used_waits and "assumes termination" not in self.qualifiers:
            raise Rejected("execution: waits order it, but no qualifier says 'assumes termination'")
        if (self.contents or self.waits.any) and "reads tensor contents" not in self.qualifiers:
            raise Rejected("execution: contents decide it, but no qualifier says 'reads tensor contents'")

    def _storage(self, argument: int) -> Optional[List[int]]:
        return self.config["arguments"][argument].get("storage") if argument >= 0 else None

    def _places(self) -> None:
        """Addresses lie in the tensors of their operations (a pointer from memory may point anywhere); what is read of contents is written by none."""
        written: List[Tuple[int, int]] = []
        for run in self.runs.values():
            s = self.sites[run.site]
            if not 0 <= run.program < self.programs or any(x >= run.number for x in run.after):
                raise Rejected(f"execution: run {run.number} is of no program, or after a later one")
            spaces = [self._storage(a) for a in s.arguments]
            for address, mark in run.lanes.values():
                if address is None or "o" in mark:
                    names = [self.config["arguments"][a]["name"] for a in s.arguments if a >= 0]
                    if address is None and (s.writes or not names):
                        raise Unsettled("an address that is not known")
                    if self.config["status"] == "ok" and any(f"assumes in-bounds accesses of {n}" not in self.qualifiers for n in names):
                        raise Rejected(f"execution: run {run.number} leaves its tensor, and no qualifier says so")
                    continue
                if None not in spaces and not any(lo <= address and address < hi for lo, hi in spaces):
                    raise Rejected(f"execution: run {run.number} is outside of its tensor")
                if s.writes:
                    written.append((address, address + s.width))
        unknown = {a for r in self.runs.values() for a in self.sites[r.site].arguments if any(x is None for x, _ in r.lanes.values())}
        for a in {*self.contents, *unknown}:
            space = self._storage(a)
            if space is None or any(lo < space[1] and space[0] < hi for lo, hi in written):
                raise Rejected(f"execution: argument {a} is read for its contents and written")

    def _all_atomic(self, entries) -> bool:
        s = self.sites[entries[0][0].site]
        return all(t.atomic and t.width == s.width and t.desc == s.desc and t.scope in ("gpu", "sys") and p == entries[0][2]
                   for t, p in ((self.sites[r.site], p) for r, _, p in entries))

    def _pair(self, x: Run, a: int, p: int, y: Run, b: int, q: int) -> None:
        s, t = self.sites[x.site], self.sites[y.site]
        if (x is y and a == b) or not (s.writes or t.writes):
            return
        mutual = s.atomic and t.atomic and s.width == t.width and p == q and s.desc == t.desc
        threads = x.program == y.program
        if mutual and (threads or (s.scope in ("gpu", "sys") and t.scope in ("gpu", "sys"))):
            return
        key = (*sorted((" ".join(s.where), " ".join(t.where))), "threads" if threads else "programs")
        if key in self.races:
            return
        if threads and (self._ordered(*((x, a, y, b) if x.number <= y.number else (y, b, x, a)))
                        or self.waits.inside(*((x, y) if x.number <= y.number else (y, x)))):
            return
        w = self.waits
        if w.any and (w.never(x) or w.never(y) or (not threads and (w.apart(x, y) or w.before(x, y) or w.before(y, x)))):
            self.used_waits = self.used_waits or any(z.waits for z in w.atomics.values())
            return
        self.races.add(key)

    def races_between(self, a: dict, b: dict, agents: str) -> bool:
        """Do executions of these two records race? Those of one operation are not told apart."""
        return (*sorted((" ".join(a["site"]), " ".join(b["site"]))), agents) in self.races

    def _ordered(self, x: Run, a: int, y: Run, b: int) -> bool:
        s, t = self.sites[x.site], self.sites[y.site]
        for (i, arm), (j, other) in zip(x.arms, y.arms):
            if i != j:
                break
            if arm != other:
                return True                                       # two arms of one execution of a branch
        if s.desc or t.desc:
            return False
        for first, second in ((x, y), (y, x)):                    # a barrier between
            if first.count < second.count if first.generation == second.generation else first.high < second.low:
                return True
        if a != b or not s.position:
            return False
        if x.site == y.site and x is not y:
            return True
        if t.position and self._depends(y, x, a):
            self.used_dependency = True
            return True
        return False

    def _depends(self, y: Run, x: Run, lane: int) -> bool:
        """Is what y uses at this lane computed from what x read at it?"""
        todo, seen = [y], set()
        while todo:
            for n in todo.pop().after:
                run, site = self.runs[n], self.sites[self.runs[n].site]
                if n in seen or run.program != x.program or site.replicated or not site.position or site.desc:
                    continue
                seen.add(n)
                if run.lanes.get(lane, (None, "m"))[1].count("m"):
                    continue
                if run is x:
                    return True
                todo.append(run)
        return False
