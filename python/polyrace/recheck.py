"""Checks a certificate folder with other solvers: ``python -m polyrace.recheck DIR`` or ``polyrace recheck DIR``.

Reads only what ``polyrace check --certify DIR`` wrote, and the launch file where it is still there. Shares no code with
the analyser: this module and its parts (recheck_*.py) import neither the library nor the
rest of the package. What it checks, docs/certificates.md says why:

* every file has the digest that the manifest names, and the manifest its own;
* the ledger holds every unordered pair of records twice (different programs, threads of one program), and an
  ``ok`` leaves none open; the records are those of the records' text;
* a pair that was never asked about rests on what the records show: neither access writes, the storages are disjoint,
  atomics that meet exactly, one program, one thread, a barrier between, no execution;
* contents of tables are those of the launch, premises are named by a qualifier;
* about shared memory the whole proof, from the events that the certificate lists (isl);
* every other pair has a claim "no solution", which a solver confirms: cvc5, Z3 or isl. A claim too hard in one
  piece is taken in the steps that the certificate lists, each "under the equalities so far this difference is 0".
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from typing import Callable, Dict, List, Optional, Tuple

if __package__:
    from .recheck_events import Open
    from .recheck_execution import Execution, Unsettled
    from .recheck_records import Records, _about, _granted
    from .recheck_shared import Proof
    from .recheck_text import EMPTY, NOT_EMPTY, UNKNOWN, Rejected, Table, _launch_values, _steps, _tables
else:                                          # as a script: its own folder and nothing else
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from recheck_events import Open
    from recheck_execution import Execution, Unsettled
    from recheck_records import Records, _about, _granted
    from recheck_shared import Proof
    from recheck_text import EMPTY, NOT_EMPTY, UNKNOWN, Rejected, Table, _launch_values, _steps, _tables


# ---- solvers ------------------------------------------------------------------------------------------------

class Solver:
    """name, version and solve(SMT-LIB text) -> EMPTY, NOT_EMPTY or UNKNOWN."""

    def __init__(self, name: str, version: str, solve: Callable[[str], str]):
        self.name, self.version, self.solve = name, version, solve
        self.confirmed = 0
        self.module = None                                        # isl: islpy


def _answer(text: str) -> str:
    last = text.strip().splitlines()[-1].strip() if text.strip() else ""
    return {"unsat": EMPTY, "sat": NOT_EMPTY}.get(last, UNKNOWN)


def _program(name: str, arguments: List[str]) -> Optional[Callable[[str], str]]:
    path = shutil.which(name)
    if not path:
        return None

    def solve(text: str) -> str:
        done = subprocess.run([path, *arguments], input=text, capture_output=True, text=True)
        return _answer(done.stdout)
    return solve


def _cvc5(limit: int) -> Optional[Solver]:
    try:
        import cvc5
    except ImportError:
        solve = _program("cvc5", ["--lang=smt2", f"--rlimit={limit}", "-"])
        if not solve:
            return None
        done = subprocess.run(["cvc5", "--version"], capture_output=True, text=True)
        return Solver("cvc5", done.stdout.split("\n")[0].strip(), solve)

    def solve(text: str) -> str:
        tm = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
        solver = cvc5.Solver(tm) if tm else cvc5.Solver()
        solver.setOption("rlimit", str(limit))
        symbols = cvc5.SymbolManager(tm if tm else solver)
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "claim")
        out = ""
        while True:
            command = parser.nextCommand()
            if command.isNull():
                break
            out += str(command.invoke(solver, symbols))
        return _answer(out)
    return Solver("cvc5", getattr(cvc5, "__version__", "module"), solve)


def _z3(limit: int) -> Optional[Solver]:
    solve = _program("z3", ["-in", "-smt2", f"rlimit={limit}"])
    if solve:
        done = subprocess.run(["z3", "--version"], capture_output=True, text=True)
        return Solver("z3", done.stdout.strip(), solve)
    try:
        import z3
    except ImportError:
        return None

    def solve_module(text: str) -> str:
        s = z3.Solver()
        s.set("rlimit", limit)
        s.from_string(text.replace("(check-sat)", ""))
        answer = s.check()                                        # its answers are no dictionary keys
        return EMPTY if answer == z3.unsat else NOT_EMPTY if answer == z3.sat else UNKNOWN
    return Solver("z3", z3.get_version_string(), solve_module)


def _isl() -> Optional[Solver]:
    try:
        import islpy
    except ImportError:
        return None

    def solve(text: str) -> str:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        return EMPTY if islpy.Set(text).is_empty() else NOT_EMPTY
    out = Solver("isl", getattr(islpy.version, "VERSION_TEXT", "module"), solve)
    out.module = islpy
    return out


# ---- one certificate ----------------------------------------------------------------------------------------

def _read(folder: str, entry: dict) -> str:
    name = entry.get("file") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise Rejected(f"not a file of the certificate: {name!r}")
    try:
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
    except OSError as e:
        raise Rejected(f"{name}: cannot be read: {e.strerror}") from None
    if hashlib.blake2b(data, digest_size=32).hexdigest() != entry.get("blake2b"):
        raise Rejected(f"{name}: the file is not the one that the manifest names (digest differs)")
    return data.decode("utf-8", "replace")


def _manifest(folder: str) -> dict:
    with open(os.path.join(folder, "manifest.json"), "rb") as f:
        data = f.read()
    m = re.search(rb'"blake2b":"([0-9a-f]{64})"\}\n?\Z', data)
    if not m:
        raise Rejected("manifest.json: it ends without its digest")
    if hashlib.blake2b(data[:m.start()], digest_size=32).hexdigest() != m[1].decode():
        raise Rejected("manifest.json: it was changed (digest differs)")
    try:
        doc = json.loads(data)
    except ValueError as e:
        raise Rejected(f"manifest.json: {e}") from None
    if doc.get("version") != 1:
        raise Rejected(f"manifest.json: version {doc.get('version')!r} is not known")
    return doc


_SCOPES = {"T0": "any-params-any-grid", "T1": "this-params-any-grid", "T1-launch": "this-params-this-grid"}


def _shape(doc: dict) -> None:
    """The verdict is what its configurations say."""
    configs = doc["configs"]
    if doc["status"] == "ok":
        if not configs or any(c["status"] != "ok" for c in configs):
            raise Rejected("the verdict is ok, but not that of every configuration")
        if all(c["rung"] is None for c in configs) and doc["scope"] is None:   # TTGIR texts alone: _shared
            if not all(c.get("shared_memory") for c in configs) or any(c["records"] or c["claims"] or c["ledger"] for c in configs):
                raise Rejected("the verdict is ok, but it speaks of nothing")
            return
        weakest = max((c["rung"] for c in configs), key=list(_SCOPES).index)
        if doc["scope"] != _SCOPES[weakest]:
            raise Rejected(f"the scope {doc['scope']} is not that of the rung {weakest}")


def _ledger(config: dict, records: "Records") -> List[dict]:
    """Every unordered pair of records twice, in order; the records are those of the text."""
    n, rows = len(config["records"]), config["ledger"]
    want = [(a, b, who) for a in range(n) for b in range(a, n) for who in ("programs", "threads")]
    if [r["id"] for r in config["records"]] != list(range(n)):
        raise Rejected("the records are not numbered from 0")
    for r in config["records"]:
        x = records.items.get(r["id"])
        if x is None or r["argument"] != int(x["base"][0]) or r["access"] != ("read" if _only_reads(x) else "write"):
            raise Rejected(f"record {r['id']} is not the one of the records' text")
    if len(records.items) != n:
        raise Rejected(f"{n} records are listed, the text has {len(records.items)}")
    got = [(r["a"], r["b"], r["agents"]) for r in rows]
    if got != want or [r["pair"] for r in rows] != list(range(len(rows))):
        raise Rejected(f"the ledger has {len(rows)} rows; {n} records have {len(want)} pairs")
    return rows


def _only_reads(x: dict) -> bool:
    return x["kind"][0] in ("load", "atomic_load", "atomic_poll")


def _filtered(config: dict, records: "Records", row: dict, qualifiers: List[str]) -> str:
    """A pair without a query: what do records and storages show?"""
    a, b = records.items[row["a"]], records.items[row["b"]]
    if _only_reads(a) and _only_reads(b):
        return "reads"
    i, j = int(a["base"][0]), int(b["base"][0])
    if i == j or i < 0 or j < 0:
        return ""
    x, y = config["arguments"][i], config["arguments"][j]
    if "storage" in x and "storage" in y:
        return "storages" if x["storage"][1] <= y["storage"][0] or y["storage"][1] <= x["storage"][0] else ""
    return "arguments" if "assumes distinct pointer arguments do not overlap" in qualifiers else ""


def _qualified(config: dict, records: "Records", qualifiers: List[str]) -> None:
    """The premises that the records show by themselves are named."""
    if config["status"] != "ok":
        return
    if any("await" in x for x in records.items.values()) and "assumes termination" not in qualifiers:
        raise Rejected("the kernel waits for memory, but no qualifier says 'assumes termination'")
    if config.get("grid") is None and any(i not in records.axes for i in (1, 2)) and \
            "assumes extent 1 on unread grid axes" not in qualifiers and not records.atomics:
        raise Rejected("no grid is known, but no qualifier says 'assumes extent 1 on unread grid axes'")


def _contents(folder: str, config: dict, launch: Optional[dict], where: str, key: str = "contents") -> Dict[int, List[int]]:
    """What the certificate says arguments hold (start: before a kernel that changes it), compared with the launch file where there is one."""
    out: Dict[int, List[int]] = {}
    for k, a in enumerate(config["arguments"]):
        if key not in a:
            continue
        out[k] = [int(x) for x in _read(folder, a[key]).split()]
        if launch is not None:
            body = launch.get("args", {}).get(a["name"], {})
            body = body.get("tensor", body) if isinstance(body, dict) else {}
            values = _launch_values(body, where)
            if (values is not None and values != out[k]) or (key == "start" and body.get("ptr", a["first"]) != a["first"]):
                raise Rejected(f"the contents of {a['name']} are not those of the launch")
    return out


def _claim(folder: str, claim: dict, solvers: List[Solver], isl: Optional[Solver], every: bool,
           tables_of: Callable[[str, str], Dict[str, Table]]) -> Tuple[str, List[str]]:
    """How the claim was confirmed ('direct', 'steps', '' = not) and by whom. Raises when it is refuted."""
    if claim.get("claim") != "empty":
        raise Rejected(f"a claim of another kind: {claim.get('claim')!r}")
    by: List[str] = []
    if "isl" in claim:
        text = _read(folder, claim["isl"])
        if isl:
            answer = isl.solve(text)
            if answer == NOT_EMPTY:
                raise Rejected(f"{claim['isl']['file']}: isl finds a point in the set")
            by.append("isl")
    if "smt2" not in claim:
        return ("direct" if by else ""), by
    name = claim["smt2"]["file"]
    text = _read(folder, claim["smt2"])
    tables = tables_of(text, name)
    how = "direct" if by else ""
    for s in solvers:
        if by and not every and s.name != solvers[0].name:
            break
        done = _in_steps(s, text, claim, tables) or _direct(s, text, name)
        if done:
            by.append(s.name)
            how = how or done
    return how, by


def _direct(s: Solver, text: str, name: str) -> str:
    answer = s.solve(text)
    if answer == NOT_EMPTY and not _LOOSE.search(text):
        raise Rejected(f"{name}: {s.name} finds a solution")
    return "direct" if answer == EMPTY else ""


# What a text leaves open (values that are not modelled): a solution of it refutes nothing.
_LOOSE = re.compile(r"^\(declare-(?:const t\d+|fun tab\d+) ", re.M)


def _in_steps(s: Solver, text: str, claim: dict, tables: Dict[str, Table]) -> str:
    facts = claim.get("facts")
    if not isinstance(facts, int) or facts < 0:
        return ""
    for what, exact, others in _steps(text, facts, tables):
        if any(s.solve(q) == EMPTY for q in others):
            continue
        answer = s.solve(exact)
        if answer == NOT_EMPTY and not _LOOSE.search(text):
            raise Rejected(f"{claim['smt2']['file']}: {s.name} refutes the step {what}")
        if answer != EMPTY:
            return ""
    return "steps" if facts else "direct"


def _launch(path) -> Tuple[Optional[dict], str]:
    """The launch file that the certificate names, when it is still there."""
    try:
        with open(str(path), encoding="utf-8") as f:
            doc = json.load(f)
    except (OSError, ValueError):
        return None, ""
    return (doc, os.path.dirname(str(path))) if isinstance(doc, dict) else (None, "")


def _ttgir(path, launch: Optional[dict], where: str) -> str:
    """The TTGIR text that the certificate is about, when it is still there."""
    if launch is not None:
        if isinstance(launch.get("ttgir_text"), str):
            return launch["ttgir_text"]
        if not isinstance(launch.get("ttgir"), str):
            return ""
        path = os.path.join(where, launch["ttgir"])
    try:
        with open(str(path), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


_ASKED = 40                                                        # pairs of operations that a second solver is asked about without --all


def _shared(folder: str, shared: Optional[dict], isl: Optional[Solver], solvers: List[Solver], every: bool, limit: int, text: str,
            qualifiers: List[str]) -> Tuple[str, int, Dict[str, int]]:
    """Why the part about shared memory is not confirmed, or ''; how many pairs of operations meet; about how many each solver agrees that
    all instances are ordered."""
    agreed: Dict[str, int] = {}
    if not shared or not shared.get("certified"):
        return "the certificate holds nothing about it", 0, agreed
    if not isl:
        return "isl is not here (pip install islpy)", 0, agreed
    events = _read(folder, shared["events"])
    try:
        proof = Proof(events, isl.module, limit * 4000)
        if proof.head["scope"] != shared["scope"]:
            raise Rejected("the scope about shared memory is not that of its events")
        for q in proof.qualifiers():
            if q not in qualifiers:
                raise Rejected(f"shared memory: no qualifier says '{q}'")
        proof.solvers = [s for s in solvers if s.module is not isl.module]
        proof.covers(text)
        proof.check()
        for n, (x, y, question) in enumerate(proof.questions() if solvers else ()):
            if n == _ASKED and not every:
                break
            for s in solvers if every else solvers[:1]:
                answer = s.solve(question)
                if answer == NOT_EMPTY:
                    raise Rejected(f"shared memory: {s.name} finds instances of events {x} and {y} that nothing orders")
                agreed[s.name] = agreed.get(s.name, 0) + (answer == EMPTY)
    except Open as e:
        return str(e), 0, agreed
    except isl.module.Error as e:
        return f"isl gave up ({str(e).splitlines()[0][:80]})", 0, agreed
    return "", proof.pairs, agreed


def recheck(folder: str, solvers: List[Solver], isl: Optional[Solver], say: Callable[[str], None],
            every: bool = False, limit: int = 300_000) -> bool:
    """True when everything is confirmed. Raises Rejected when something is wrong, false when something is open."""
    doc = _manifest(folder)
    launch, where = _launch(doc.get("input"))
    _shape(doc)
    open_claims, folded = 0, 0
    shared = [c["shared_memory"] for c in doc["configs"] if c.get("shared_memory")]
    named = launch is not None and any(launch.get(k) for k in ("ttgir", "ttgir_text"))
    unseen, meetings, second = "", 0, {}
    if doc["status"] == "ok" and (shared or named):
        if any(s.get("status") != "ok" for s in shared):
            raise Rejected("the verdict is ok, but that about shared memory is not")
        for c in doc["configs"]:
            why, n, agreed = _shared(folder, c.get("shared_memory"), isl, solvers, every, limit, _ttgir(doc.get("input"), launch, where),
                             doc["qualifiers"])
            unseen, meetings = unseen or why, meetings + n
            second.update({k: second.get(k, 0) + v for k, v in agreed.items()})
    if unseen:
        say(f"  not confirmed: shared and tensor memory of the TTGIR text: {unseen}")
    filtered: Dict[str, int] = {}
    counts: Dict[str, int] = {}
    total = by_steps = 0
    for config in doc["configs"]:
        if config["rung"] is None and config.get("shared_memory") and "records_text" not in config:
            continue                                              # a TTGIR text alone
        records = Records(_read(folder, config["records_text"]) if "records_text" in config else "")
        rows = _ledger(config, records)
        _qualified(config, records, doc["qualifiers"])
        said = doc["qualifiers"] if config["status"] == "ok" else None       # premises of proofs do not qualify a race
        contents = {config["arguments"][k]["name"]: v for k, v in _contents(folder, config, launch, where).items()}
        if said is None or "reads tensor contents" in said:
            records.contents = contents
        executed, execution = "", None
        if "execution" in config:
            try:
                execution = Execution(_read(folder, config["execution"]), config, records, doc["qualifiers"],
                                      _contents(folder, config, launch, where, "start"))
                executed = f"executed ({execution.check()} executions of operations)"
                if config["status"] == "ok" and execution.races:
                    raise Rejected("execution: two executions meet at one byte, and nothing orders them: operations "
                                   + " and ".join(sorted(execution.races)[0][:2]))
            except Unsettled as e:
                say(f"  not confirmed: the execution of the whole launch: {e}")
        claims: Dict[int, dict] = {}
        for claim in config["claims"]:
            if claim["pair"] is not None:
                row = rows[claim["pair"]] if 0 <= claim["pair"] < len(rows) else None
                if row is None or not str(row["bucket"]).startswith("proved"):
                    raise Rejected(f"a claim about pair {claim['pair']}, which the ledger does not call proved")
                name = claim.get("smt2", {}).get("file", "")
                if "smt2" in claim:
                    head = re.search(r"^; pair (\d+)$", _read(folder, claim["smt2"]), re.M)
                    if not head or int(head[1]) != claim["pair"]:
                        raise Rejected(f"{name}: it is not about pair {claim['pair']}")
                    _about(name, _read(folder, claim["smt2"]), row, records, config)
                    if config["status"] == "ok" and not _granted(name, _read(folder, claim["smt2"]), records, config, doc["qualifiers"], solvers):
                        say(f"  not confirmed: {name} (its premises follow from no qualifier)")
                        open_claims += 1
                claims[claim["pair"]] = claim
            how, by = _claim(folder, claim, solvers, isl, every,
                             lambda text, name: _tables(text, contents, records.size_of, said, name, records.atomics))
            total += 1
            for name in by:
                counts[name] = counts.get(name, 0) + 1
            if not how:
                open_claims += 1
                say(f"  not confirmed: {claim.get('smt2', {}).get('file', 'a claim without a text')} ({claim.get('evidence')})")
            by_steps += how == "steps"
        for row in rows:
            bucket, why = row["bucket"], ""
            if not (bucket == "filtered" or str(bucket).startswith("proved")):
                if config["status"] == "ok":
                    raise Rejected(f"pair {row['pair']} is {bucket}, but the verdict is ok")
                continue
            if row["pair"] in claims and bucket != "filtered":
                continue
            why = executed if row["evidence"] == "execution of the whole launch" else ""
            if why and execution.races_between(records.items[row["a"]], records.items[row["b"]], row["agents"]):
                raise Rejected(f"pair {row['pair']}: two of its executions meet at one byte, and nothing orders them")
            why = why or _filtered(config, records, row, doc["qualifiers"]) or records.never_meet(row, config, doc["qualifiers"], solvers)
            if why:
                filtered[why] = filtered.get(why, 0) + 1
            elif row["evidence"] in ("neither writes", "different buffers"):
                raise Rejected(f"pair {row['pair']}: '{row['evidence']}', but the records do not show it")
            else:
                say(f"  not confirmed: pair {row['pair']} ({row['evidence']})")
                folded += 1
    bad = open_claims + folded
    state = "confirmed" if not bad else f"{open_claims} of {total} claims and {folded} pairs not confirmed"
    if unseen:
        state = "not confirmed" if doc["scope"] is None else ("the TTIR part is " if not bad else "") + state
    elif doc["status"] == "ok" and shared:
        state += f"; shared memory by isl ({meetings} pairs of operations{''.join(f', {k} {v}' for k, v in sorted(second.items()))})"
    say(f"{folder}: {doc['kernel']}: {doc['status']}{' (' + doc['scope'] + ')' if doc.get('scope') else ''}: {state}; {total} claims "
        f"({', '.join(f'{k} {v}' for k, v in sorted(counts.items())) or 'none'}; {by_steps} in steps), pairs by the records: "
        f"{', '.join(f'{k} {v}' for k, v in sorted(filtered.items())) or 'none'}")
    return not bad and not unseen


def folders(root: str) -> List[str]:
    out = [d for d, _, files in os.walk(root) if "manifest.json" in files]
    return sorted(out)


def main(argv: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(prog="polyrace recheck", description="Verifies certificates of polyrace check --certify with cvc5, "
                                "Z3 and isl. Exit status: 0 confirmed, 1 rejected, 2 some claim not confirmed, 3 bad usage.")
    p.add_argument("folders", nargs="+", metavar="DIR", help="a certificate, or a folder of them")
    p.add_argument("--solver", action="append", choices=["cvc5", "z3", "isl"], help="only these (default: all that are here)")
    p.add_argument("--limit", type=int, default=300_000, metavar="N", help="resource units of one question (default 300000)")
    p.add_argument("--all", action="store_true", help="every solver on every claim (default: isl and the first solver; the second "
                   "where they do not answer)")
    p.add_argument("-q", "--quiet", action="store_true", help="only what is not confirmed")
    a = p.parse_args(argv)
    wanted = a.solver or ["cvc5", "z3", "isl"]
    solvers = [s for s in (_cvc5(a.limit) if "cvc5" in wanted else None, _z3(a.limit) if "z3" in wanted else None) if s]
    isl = _isl() if "isl" in wanted else None
    if not solvers and not isl:
        print("polyrace recheck: no solver is here; install cvc5, z3-solver or islpy with pip, or the programs cvc5 or z3",
              file=sys.stderr)
        return 3
    if not a.quiet:
        print("with " + ", ".join(f"{s.name} ({s.version})" for s in [*solvers, *([isl] if isl else [])]))
    status, seen = 0, 0
    for root in a.folders:
        found = folders(root)
        if not found:
            print(f"polyrace recheck: {root}: no certificate (manifest.json) below it", file=sys.stderr)
            return 3
        for folder in found:
            seen += 1
            lines: List[str] = []
            try:
                good = recheck(folder, solvers, isl, lines.append, a.all, a.limit)
                if not good and status == 0:
                    status = 2
            except Rejected as e:
                good = False
                lines.append(f"{folder}: REJECTED: {e}")
                status = 1
            except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as e:
                good = False
                lines.append(f"{folder}: REJECTED: manifest.json: malformed ({type(e).__name__}: {e})")
                status = 1
            if not good or not a.quiet:
                print("\n".join(lines))
    if seen > 1:
        print(f"{seen} certificates: {['all confirmed', 'some rejected', 'some not confirmed'][status]}")
    return status


if __name__ == "__main__":
    sys.exit(main())
