"""Checks a certificate folder with other solvers: ``python -m polyrace.recheck DIR`` or ``polyrace recheck DIR``.

Reads only what ``polyrace check --certify DIR`` wrote and shares no code with the analyser: this module imports
neither the library nor the rest of the package. What it checks, docs/certificates.md says why:

* every file has the digest that the manifest names, and the manifest its own;
* the ledger holds every unordered pair of records twice (different programs, threads of one program), and an
  ``ok`` leaves none open;
* a pair that was never asked about rests on a fact that the manifest shows: neither access writes, or the two
  arguments' storages are disjoint;
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
from typing import Callable, Dict, Iterator, List, Optional, Tuple

EMPTY, NOT_EMPTY, UNKNOWN = "empty", "not empty", "unknown"


class Rejected(Exception):
    """The certificate does not show what it claims."""


# ---- solvers ------------------------------------------------------------------------------------------------

class Solver:
    """name, version and solve(SMT-LIB text) -> EMPTY, NOT_EMPTY or UNKNOWN."""

    def __init__(self, name: str, version: str, solve: Callable[[str], str]):
        self.name, self.version, self.solve = name, version, solve
        self.confirmed = 0


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
        return {z3.unsat: EMPTY, z3.sat: NOT_EMPTY}.get(s.check(), UNKNOWN)
    return Solver("z3", z3.get_version_string(), solve_module)


def _isl() -> Optional[Solver]:
    try:
        import islpy
    except ImportError:
        return None

    def solve(text: str) -> str:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        return EMPTY if islpy.Set(text).is_empty() else NOT_EMPTY
    return Solver("isl", getattr(islpy.version, "VERSION_TEXT", "module"), solve)


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


def _ledger(config: dict) -> List[dict]:
    """Every unordered pair of records twice, in order."""
    n, rows = len(config["records"]), config["ledger"]
    want = [(a, b, who) for a in range(n) for b in range(a, n) for who in ("programs", "threads")]
    if [r["id"] for r in config["records"]] != list(range(n)):
        raise Rejected("the records are not numbered from 0")
    got = [(r["a"], r["b"], r["agents"]) for r in rows]
    if got != want or [r["pair"] for r in rows] != list(range(len(rows))):
        raise Rejected(f"the ledger has {len(rows)} rows; {n} records have {len(want)} pairs")
    return rows


def _filtered(config: dict, row: dict) -> bool:
    """A pair without a query: does the manifest show why?"""
    a, b = config["records"][row["a"]], config["records"][row["b"]]
    if a["access"] == b["access"] == "read":
        return True
    x, y = (config["arguments"][r["argument"]] if 0 <= r["argument"] < len(config["arguments"]) else {} for r in (a, b))
    if a["argument"] != b["argument"] and "storage" in x and "storage" in y:
        return x["storage"][1] <= y["storage"][0] or y["storage"][1] <= x["storage"][0]
    return False


# True for all integers f and d. Solvers find this instance of it hard to guess.
_PRODUCT = "(assert (=> (>= f 1) (& (=> (>= d 1) (>= (* f d) f)) (=> (<= d (- 1)) (<= (* f d) (- f))))))\n"

_DIVISION = re.compile(r"^\(define-fun (t\d+) \(\) Int \((?:fdiv|fmod|tdiv|trem) .*\)\)$", re.M)


def _product(k: int) -> str:
    """The instance of _PRODUCT for fact k."""
    return re.sub(r"\b[fd]\b", lambda m: {"f": f"factor-{k}", "d": f"difference-{k}"}[m[0]], _PRODUCT).replace("&", "and")


def _steps(text: str, facts: int) -> Iterator[Tuple[str, List[str]]]:
    """(what, questions) of each fact and of the conclusion; one question answered "empty" is enough. The first
    question leaves every quotient and remainder free: it has more solutions, and is often much easier."""
    body = text.replace("(check-sat)", "")
    free = _DIVISION.sub(r"(declare-const \1 Int)", body)
    known = ""
    for k in range(facts + 1):
        end = f"(assert (not fact-{k}))\n(check-sat)\n" if k < facts else "(check-sat)\n"
        what = f"fact-{k}" if k < facts else "no solution is left"
        if f"(define-fun factor-{k} () Int" in text:
            end = _product(k) + end
        yield what, [free + known + end, body + known + end]
        known += f"(assert fact-{k})\n"


def _claim(folder: str, claim: dict, solvers: List[Solver], isl: Optional[Solver], every: bool) -> Tuple[str, List[str]]:
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
    text = _read(folder, claim["smt2"])
    how = "direct" if by else ""
    for s in solvers:
        if by and not every and s.name != solvers[0].name:
            break
        done = _in_steps(s, text, claim) or _direct(s, text, claim)
        if done:
            by.append(s.name)
            how = how or done
    return how, by


def _direct(s: Solver, text: str, claim: dict) -> str:
    answer = s.solve(text)
    if answer == NOT_EMPTY:
        raise Rejected(f"{claim['smt2']['file']}: {s.name} finds a solution")
    return "direct" if answer == EMPTY else ""


def _in_steps(s: Solver, text: str, claim: dict) -> str:
    facts = claim.get("facts")
    if not isinstance(facts, int) or facts < 1:
        return ""
    for what, (free, full) in _steps(text, facts):
        if s.solve(free) == EMPTY:
            continue
        answer = s.solve(full)
        if answer == NOT_EMPTY:
            raise Rejected(f"{claim['smt2']['file']}: {s.name} refutes the step {what}")
        if answer != EMPTY:
            return ""
    return "steps"


def recheck(folder: str, solvers: List[Solver], isl: Optional[Solver], say: Callable[[str], None],
            every: bool = False) -> bool:
    """True when everything is confirmed. Raises Rejected when something is wrong, false when something is open."""
    doc = _manifest(folder)
    open_claims, folded, filtered = 0, 0, 0
    counts: Dict[str, int] = {}
    total = by_steps = 0
    for config in doc["configs"]:
        if "records_text" in config:
            _read(folder, config["records_text"])
        rows = _ledger(config)
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
                claims[claim["pair"]] = claim
            how, by = _claim(folder, claim, solvers, isl, every)
            total += 1
            for name in by:
                counts[name] = counts.get(name, 0) + 1
            if not how:
                open_claims += 1
                say(f"  not confirmed: {claim.get('smt2', {}).get('file', 'a claim without a text')} ({claim.get('evidence')})")
            by_steps += how == "steps"
        for row in rows:
            bucket = row["bucket"]
            if bucket == "filtered":
                if not _filtered(config, row):
                    if row["evidence"] not in ("neither writes", "different buffers"):
                        folded += 1           # program order, atomics of one kind: the encoder's word
                    else:
                        raise Rejected(f"pair {row['pair']}: '{row['evidence']}', but the manifest does not show it")
                else:
                    filtered += 1
            elif bucket.startswith("proved"):
                if row["pair"] not in claims:
                    folded += 1
            elif config["status"] == "ok":
                raise Rejected(f"pair {row['pair']} is {bucket}, but the verdict is ok")
    state = "confirmed" if not open_claims else f"{open_claims} of {total} claims not confirmed"
    say(f"{folder}: {doc['kernel']}: {doc['status']}{' (' + doc['scope'] + ')' if doc.get('scope') else ''}: {state}; {total} claims "
        f"({', '.join(f'{k} {v}' for k, v in sorted(counts.items())) or 'none'}; {by_steps} in steps), {filtered} pairs by the "
        f"manifest, {folded} folded by the encoder and not re-checked")
    return open_claims == 0


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
                good = recheck(folder, solvers, isl, lines.append, a.all)
                if not good and status == 0:
                    status = 2
            except Rejected as e:
                good = False
                lines.append(f"{folder}: REJECTED: {e}")
                status = 1
            except (KeyError, TypeError, IndexError, AttributeError) as e:
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
