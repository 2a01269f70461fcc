"""Decision time of launches captured from public packages (capture.py), beside the shipped kernels."""
import collections
import os

import common
import corpus


def main(o):
    paths = [p for folder in o.folder for p in common.launches(folder)]
    if len(paths) < 100:
        print(f"note: {len(paths)} launches; 100 or more are wanted (capture.py)")
    shipped = common.launches()
    name_of = lambda p: os.path.basename(p)[:-5]                                      # noqa: E731
    own, own_last = corpus.decision_times(o.polyrace, shipped, o.repeat)
    found, last = corpus.decision_times(o.polyrace, paths, o.repeat, chunk=20)
    groups = [corpus.group("shipped kernels", own, name_of),
              corpus.group("of these, 5 accesses or more", {p: v for p, v in own.items() if corpus.accesses(p) >= 5}, name_of),
              corpus.group("package texts", found, name_of),
              corpus.group("of these, 5 accesses or more", {p: v for p, v in found.items() if corpus.accesses(p) >= 5}, name_of)]
    each = collections.defaultdict(dict)
    for p, v in found.items():
        each[name_of(p).split(".")[0]][p] = v
    groups += [corpus.group(k, v, name_of) for k, v in sorted(each.items())]
    corpus.print_groups(groups)
    missing = [name_of(p) for p in paths if p not in last]
    if missing:
        print(f"no verdict: {', '.join(missing)}")
    kinds = collections.Counter(r["kind"] for v in last.values() for r in v["refusals"])
    status = collections.Counter(v["status"] for v in last.values())
    print("package texts:", dict(status), "; refusals:", dict(kinds.most_common(8)), "; with Z3:", sum(1 for v in last.values() if v["stats"].get("z3_units")))
    used = corpus.processes(o.process, o.polyrace, paths, last, 1)
    print("one process a text:", used)
    if o.output:
        common.write_json(o.output, {"machine": common.machine(), "versions": common.versions(o.polyrace), "groups": groups, "status": dict(status),
                                     "process": used, "decision_ms": {name_of(p): round(v, 4) for p, v in sorted({**own, **found}.items())}})
    return 0
