#!/usr/bin/env python3
"""Random small synchronising kernels against an exhaustive oracle: explore.py [polyrace] [--count=N] [--seed=S] [--order=cta] [--keep=DIR]
[--fault=N] [--patterns=gates|guards|locks] [--orders]

With --orders the program is `orders` of tests/gates, which says what the execution of the whole launch orders and nothing else: `ordered`
must mean that no execution has a race (and, with --fault, must once be wrong).

A kernel is made from a pattern (hand-over, counter, lock, chain, arrivals) with random mutations of semantics, scopes,
values, cells and barriers. It is printed as TTIR, and every execution of its two or three programs is enumerated from the
abstract description, which shares nothing with the analyser.

The oracle is axiomatic (the PTX model restricted to what scalar atomics of one location each need): every program runs any
path that its reads allow; the atomics of one location stand in one sequence, in which each reads the value that the one
before left (coherence and atomicity); events of one program at one location keep their order; a release is before an acquire
that reads from it or from a chain of read-modify-writes behind it, every link inside its scope; inside a program only
barriers order; happens-before is acyclic and agrees with the sequences; reads and what is controlled by them are not circular.
A plain conflicting pair that happens-before does not order is a race.

`ok` must mean that no execution in which every wait ends has a race; `races` that some execution (also one that hangs) has.
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from verdicts import check, program                               # noqa: E402

DATA = 32                     # cells of the data
TICKET = 9                    # the flag that stands in a tensor of its own
LIMIT = 60000                 # combinations looked at for one kernel; beyond: skipped


# ---- kernels -------------------------------------------------------------------------------------------------------
# An operation is a tuple:
#   ("st", cell)  ("ld", cell)  ("bar",)
#   ("rmw", name, kind, flag, value, sem, scope)   kind: add xchg or
#   ("cas", name, flag, cmp, new, sem, scope)
#   ("wait", flag, want, sem, scope, form)         form: add0 | cas | load | poll | ge (by add 0, until at least want) | lock (cas 0 -> 1; want 0)
#   ("look", name, flag, sem, scope)               an atomic load;   ("try", name, flag, want, sem, scope): a poll with a timeout, 1 = seen
#   ("flip", flag, name, bit, sem, scope)          waits until the bit of the flag differs from that of an earlier result
#   ("if", name, rel, value, [ops])                rel: eq | ge | ne
#   ("role", rel, pid, [ops])                      rel: eq | ne | gt
#   ("for", low, high, [ops])                      k from low to high - 1; high may be "pid"
#   ("steal", name, flag, by, rel, limit, form, [ops]) while name rel (lt | ne) limit: ops, with name = add(flag, by) at the end of each turn.
#                                                  form: draw (the first is drawn too), top (each is drawn a turn ahead), pid (the first is
#                                                  the program id, the others are the results + n)
# An operand of an atomic is a number, ("obs", name): an earlier result, or ("sel", pid, a, b): a in that program, b in others,
# ("pid", c): program id + c, ("next", n): (program id + 1) % n. What a wait waits for may be ("pid", c) too, or in a loop ("k", c).
# Flag 9 is a counter of its own tensor. A cell or a flag is a number, ("t", name, c): an earlier result + c, ("d", name, c): twice that
# result + c, ("pid", k): program id + k, or in a loop ("k", c): its index + c.
NEST = ("if", "role", "for", "steal")
TURNS = 4                     # of a steal, that the oracle follows

def pick(r, *xs):
    return r.choice(xs)


def base_kernel(r, n):
    """A synchronising kernel that is usually right, as ops."""
    bar = ("bar",)
    f, d = 0, 0
    kind = r.choice(["flag", "flag", "cas", "counter", "counter", "lock", "chain", "arrive", "winner", "two",
                     "each", "each", "collect", "publish", "rounds", "sums", "sums", "second", "pass", "feed", "sense", "turn", "turn", "scan", "scan", "soup", "soup", "steal", "steal", "draws", "draws"])
    if kind == "steal":                                       # tiles drawn from a counter until there are no more
        cell = r.choice([("t", "t"), ("t", "t"), ("d", "t")])
        body = [(r.choice(["st", "st", "st", "ld"]), cell + (r.choice([0, 0, 0, 1]),))]
        if r.random() < .4:
            body.append(("st", cell + (r.choice([0, 1, 1]),)))
        if r.random() < .2:
            body.insert(r.randrange(2), bar)
        return [("steal", "t", TICKET, 1, r.choice(["lt", "lt", "lt", "ne"]), r.choice([1, 2, 2, 3]), r.choice(["draw", "draw", "top", "pid"]), body)]
    if kind == "draws":                                       # several draws a program, of one amount or of what is needed
        take = lambda name, by: ("rmw", name, "add", TICKET, by, "relaxed", "gpu")       # noqa: E731
        form = r.randrange(4)
        if form == 0:
            return [("for", 0, r.choice([1, 2, 2, "pid"]), [take("t", 1), ("st", ("t", "t", r.choice([0, 0, 1])))])]
        if form == 1:
            return [take("t", 1), ("st", ("t", "t", 0)), take("u", r.choice([1, 1, 1, 0])), (r.choice(["st", "ld"]), ("t", "u", 0))]
        if form == 2:                                         # a program takes two cells, the others one (or none)
            return [take("t", ("sel", 0, 2, r.choice([1, 1, 0]))), ("role", r.choice(["eq", "eq", "ne"]), 0, [("st", ("t", "t", 1))]),
                    ("role", r.choice(["gt", "gt", "ne", "eq"]), r.choice([0, 0, 1]), [("st", ("t", "t", 0))])]
        return [("for", 0, 2, [take("t", 1), ("if", "t", r.choice(["ge", "ne"]), r.choice([0, 1, 2]), [("st", (r.choice(["t", "d"]), "t", r.choice([0, 0, 1])))])])]
    if kind == "scan":                                        # cells by ticket: each waits for the one before it, or takes a cell of its own
        back = r.choice([-1, -1, -1, 0])
        take = ("rmw", "t", "add", TICKET, r.choice([1, 1, 1, 1, 0]), "relaxed", "gpu")
        if r.random() < .3:
            return [take, ("st", ("t", "t", 0)), bar, ("rmw", "p", "add", TICKET, 0, "acquire", "gpu"), bar,
                    ("if", "p", r.choice(["eq", "ge"]), n, [("ld", r.randrange(2))])]
        return [take, ("st", ("t", "t", 0)), bar, ("rmw", "p", r.choice(["xchg", "xchg", "add"]), ("t", "t", 0), 1, "release", "gpu"),
                ("if", "t", "ge", 1, [("wait", ("t", "t", back), 1, "acquire", "gpu", "add0"), bar, ("ld", ("t", "t", r.choice([-1, -1, 0])))])]
    if kind == "turn":                                        # one after the other; the first need not wait, the last need not pass on
        mine = [("wait", f, ("pid", 0), "acquire", "gpu", "add0"), bar]
        give = [("rmw", "u", "xchg", f, r.choice([("pid", 1), ("next", n)]), "release", "gpu")]
        if r.random() < .3:
            give = [("rmw", "u", "add", f, 1, "release", "gpu")]
        return ([("role", "gt", 0, mine)] if r.random() < .5 else mine) + [(r.choice(["st", "st", "ld"]), d), bar] + \
            ([("role", "ne", n - 1, give)] if r.random() < .3 else give)
    if kind == "sums":                                        # the publication shows in a sum, whoever else adds
        a, b = r.choice([1, 2, 3]), r.choice([1, 2, 3])
        publish, want = ("rmw", "p", "add", f, a, "release", "gpu"), r.choice([a + b, a + b, a + b, a, b])
        look = [("rmw", "o", "add", f, 0, "acquire", "gpu"), bar, ("if", "o", r.choice(["eq", "eq", "ge"]), want, [("ld", d)])]
        other = ("rmw", "q", "add", f, b, "relaxed", "gpu")
        if r.random() < .4:
            return [("role", "eq", 0, [("st", d), bar, publish]), ("role", "ne", 0, [other] + look)]
        if r.random() < .5:                                   # one atomic, another amount in each program
            return [("role", "eq", 0, [("st", d), bar]), ("rmw", "p", "add", f, ("sel", 0, a, b), "acq_rel", "gpu"), bar,
                    ("rmw", "o", "add", f, 0, "acquire", "gpu"), bar, ("role", "ne", 0, [("if", "o", "ge", max(a + b, (n - 1) * b + 1), [("ld", d)])])]
        return [("role", "eq", 0, [("st", d), bar, publish]), ("role", "eq", 1, [other]), ("role", "gt", 1 if n > 2 else 0, look)]
    if kind == "second":                                      # who comes first, who second
        take = r.choice([("cas", "o", f, 0, 1, "relaxed", "gpu"), ("rmw", "o", "xchg", f, 1, "relaxed", "gpu"),
                         ("rmw", "o", "or", f, 1, "relaxed", "gpu"), ("cas", "o", f, ("sel", 0, 0, r.choice([0, 1])), 1, "relaxed", "gpu"),
                         ("rmw", "o", "add", f, ("sel", 0, 1, r.choice([1, 2])), "relaxed", "gpu")])
        return [take, ("if", "o", r.choice(["ne", "ne", "eq"]), r.choice([0, 0, 1]), [("st", d)])]
    if kind == "pass":                                        # what a relaxed read behind an acquire can see
        seen = r.choice([1, 1, 0])
        return [("role", "eq", 0, [("rmw", "x", r.choice(["xchg", "add", "or"]), 1, 1, "relaxed", "gpu"), bar,
                                   ("rmw", "p", "xchg", 0, 1, "release", "gpu"), ("st", d)]),
                ("role", "ne", 0, [("rmw", "o", "add", 0, 0, "acquire", "gpu"), bar,
                                   ("if", "o", "eq", seen, [("rmw", "v", "add", 1, 0, "relaxed", "gpu"),
                                                            ("if", "v", r.choice(["eq", "ne"]), r.choice([0, 0, 1]), [("st", d)])])])]
    if kind == "feed":                                        # results written on: values out of thin air
        w = r.choice(["xchg", "xchg", "add", "or"])
        if r.random() < .4:                                   # a result that goes through another program
            return [("role", "eq", 0, [("rmw", "p", "xchg", 0, r.choice([1, 2]), "relaxed", "gpu"), ("rmw", "b", "add", 1, 0, "relaxed", "gpu"),
                                       ("if", "b", r.choice(["eq", "ne", "ge"]), r.choice([0, 1, 2]), [("st", d)])]),
                    ("role", "ne", 0, [("rmw", "a", "add", 0, 0, "relaxed", "gpu"), ("rmw", "q", w, 1, ("obs", "a"), "relaxed", "gpu"), ("st", d)])]
        return [("role", "eq", 0, [("rmw", "a", "add", 0, 0, "relaxed", "gpu"), ("rmw", "p", w, 1, ("obs", "a"), "relaxed", "gpu"),
                                   ("if", "a", r.choice(["eq", "ne"]), r.choice([0, 1, 1]), [("st", d)])]),
                ("role", "ne", 0, [("rmw", "b", "add", 1, 0, "relaxed", "gpu"), ("rmw", "q", w, 0, ("obs", "b"), "relaxed", "gpu"),
                                   ("if", "b", r.choice(["eq", "ne"]), r.choice([0, 1, 1]), [("st", d)])])]
    if kind == "sense":                                       # a barrier of the grid whose last arrival flips a bit
        bit = r.choice([4, 4, 2])
        return [("st", ("pid", 0)), bar, ("rmw", "a", "add", f, ("sel", 0, bit - n + 1, 1), "acq_rel", "gpu"),
                ("flip", f, "a", bit, "acquire", "gpu"), bar, ("ld", 0), ("ld", 1)]
    if kind == "soup":
        return [("role", "eq", 0, soup(r, "a")), ("role", "ne", 0, soup(r, "b"))]
    if kind == "each":                                        # every program's part, in a loop that waits for each
        return [("st", ("pid", 0)), bar, ("rmw", "p", r.choice(["xchg", "add"]), ("pid", 0), 1, "release", "gpu"),
                ("for", 0, r.choice([n, "pid"]), [("wait", ("k", 0), 1, "acquire", "gpu", r.choice(["add0", "cas"])), bar, ("ld", ("k", 0))])]
    if kind == "collect":                                     # one program collects (stream-K fix-up)
        return [("role", "ne", 0, [("st", ("pid", 0)), bar, ("rmw", "p", "xchg", ("pid", 0), 1, "release", "gpu")]),
                ("role", "eq", 0, [("for", 1, n, [("wait", ("k", 0), 1, "acquire", "gpu", r.choice(["add0", "cas"])), bar,
                                                  (r.choice(["ld", "st"]), ("k", 0))])])]
    if kind == "publish":                                     # a release behind a loop, a wait in one
        return [("role", "eq", 0, [("for", 0, 2, [("st", ("k", 0))]), bar, ("rmw", "p", "xchg", f, 1, "release", "gpu")]),
                ("role", "ne", 0, [("for", 0, 2, [("wait", f, 1, "acquire", "gpu", "add0"), bar, ("ld", ("k", 0))])])]
    if kind == "rounds":                                      # releases inside a loop too
        return [("role", "eq", 0, [("for", 0, 2, [("st", ("k", 0)), bar, ("rmw", "p", "add", f, 1, "release", "gpu")])]),
                ("role", "ne", 0, [("for", 0, 2, [("wait", ("k", 0) if r.random() < .3 else f, r.choice([1, 2]), "acquire", "gpu", "add0"),
                                                  bar, ("ld", ("k", 0))])])]
    if kind == "flag":
        publish = r.choice([("rmw", "p", "xchg", f, 1, "release", "gpu"), ("rmw", "p", "add", f, 1, "acq_rel", "gpu"),
                            ("rmw", "p", "or", f, 1, "release", "gpu"), ("cas", "p", f, 0, 1, "acq_rel", "gpu")])
        take = [("wait", f, 1, "acquire", "gpu", r.choice(["add0", "cas"])), bar, ("ld", d)] if r.random() < .5 else \
               [("rmw", "o", "add", f, 0, "acquire", "gpu"), bar, ("if", "o", "eq", 1, [("ld", d)])]
        return [("role", "eq", 0, [("st", d), bar, publish]), ("role", "ne", 0, take)]
    if kind == "cas":
        if r.random() < .4:                                   # a release that may fail, and what its program writes afterwards
            return [("role", "eq", 0, [("st", d), bar, ("cas", "p", f, r.choice([0, 1, 2]), 1, "release", "gpu"),
                                       ("rmw", "q", r.choice(["xchg", "add"]), f, 2, "relaxed", "gpu")]),
                    ("role", "ne", 0, [("rmw", "o", "add", f, 0, "acquire", "gpu"), bar, ("if", "o", r.choice(["eq", "ge"]), r.choice([1, 2, 2, 3]), [("ld", d)])])]
        cmp = r.choice([1, 1, 7, 0])
        return [("role", "eq", 0, [("st", d), bar, ("cas", "p", f, 0, 1, "release", "gpu")]),
                ("role", "ne", 0, [("cas", "o", f, cmp, cmp, "acquire", "gpu"), bar, ("if", "o", "eq", 1, [("ld", d)])])]
    if kind == "counter":
        last = [("ld", 0), ("ld", 1)]
        return [("st", ("pid", 0)), bar, ("rmw", "o", "add", f, 1, "acq_rel", "gpu"), bar, ("if", "o", "eq", n - 1, last)]
    if kind == "lock":
        return [("await_lock", f), bar, ("st", d), bar, ("rmw", "u", "xchg", f, 0, "release", "gpu")]
    if kind == "chain":
        return [("role", "gt", 0, [("wait", ("pid", -1), 1, "acquire", "gpu", "add0"), bar, ("ld", ("pid", -1))]),
                ("st", ("pid", 0)), bar, ("rmw", "p", "xchg", ("pid", 0), 1, "release", "gpu")]
    if kind == "arrive":
        return [("st", ("pid", 0)), bar, ("rmw", "p", "add", f, 1, "release", "gpu"), ("wait", f, n, "acquire", "gpu", "add0"),
                bar, ("ld", 0), ("ld", 1)]
    if kind == "winner":
        take = r.choice([("cas", "o", f, 0, 1, "relaxed", "gpu"), ("rmw", "o", "add", f, 1, "relaxed", "gpu"),
                         ("rmw", "o", "xchg", f, 1, "relaxed", "gpu")])
        return [take, ("if", "o", "eq", 0, [("st", d)])]
    return [("role", "eq", 0, [("st", 0), bar, ("rmw", "p", "xchg", 0, 1, "release", "gpu")]),
            ("role", "eq", 1, [("wait", 0, 1, "acquire", "gpu", "add0"), bar, ("ld", 0), bar, ("rmw", "q", "xchg", 1, 1, "release", "gpu")]),
            ("role", "gt", 1, [("wait", 1, 1, "acquire", "gpu", "add0"), bar, ("ld", 0)])]


def locks_kernel(r, n):
    """Sections of locks in loops, several of one lock (--patterns=locks)."""
    bar = ("bar",)

    def section(cell, inside):
        back = ("rmw", "u", "xchg", cell, 0, "release", "gpu") if r.random() < .8 else ("cas", "u", cell, 1, 0, "release", "gpu")
        return [("wait", cell, 0, "acquire", "gpu", "lock"), bar, *inside, bar, back]
    touch = lambda: (r.choice(["st", "st", "ld"]), r.choice([0, 0, 1]))                   # noqa: E731
    kind = r.choice(["loop", "loop", "cells", "cells", "two", "behind", "roles", "roles", "outside", "nested", "other"])
    if kind == "loop":
        return [("for", 0, 2, section(0, [touch()]))]
    if kind == "cells":                                       # a lock for each cell, or the wrong one
        return [("for", 0, 2, section(("k", 0), [(r.choice(["st", "st", "ld"]), r.choice([("k", 0), ("k", 0), ("k", 0), 0, ("k", 1)]))]))]
    if kind == "two":
        return section(0, [touch()]) + section(r.choice([0, 0, 1]), [touch()])
    if kind == "behind":                                      # an access that the section does not hold
        return section(0, [("st", 0)]) + [r.choice([bar, touch()])] + [touch()] * r.randrange(2)
    if kind == "roles":
        first = [("for", 0, 2, section(0, [touch()]))] if r.random() < .5 else section(0, [touch()])
        return [("role", "eq", 0, first), ("role", "ne", 0, section(r.choice([0, 0, 0, 1]), [touch()]))]
    if kind == "outside":                                     # somebody opens or sets the lock who does not hold it
        return [("role", "eq", 0, [("rmw", "p", "xchg", 0, r.choice([0, 0, 1]), r.choice(["release", "relaxed"]), "gpu")])] + section(0, [touch()])
    if kind == "nested":
        return section(0, section(r.choice([1, 1, 0]), [touch()]) if r.random() < .5 else [("for", 0, 2, [touch()])])
    return [("role", "eq", 0, section(0, [touch()])), ("role", "ne", 0, [("for", 0, 2, section(("k", 0), [touch()]))])]


def gates_kernel(r, n):
    """Programs that wait for each other again and again (--patterns=gates)."""
    bar, add, form = ("bar",), lambda f, v=1: ("rmw", "p", "add", f, v, "release", "gpu"), r.choice(["ge", "ge", "add0"])    # noqa: E731
    wait = lambda f, want, how="ge": ("wait", f, want, "acquire", "gpu", how)                                      # noqa: E731
    kind = r.choice(["phases", "phases", "back", "back", "cells", "cells", "relay", "bits", "steps", "last", "last", "winner", "winner", "opens",
                     "flips", "flips", "flips", "drawn", "gate", "gate"])
    if kind == "gate":                                        # the last one opens a gate and passes by, the others wait for it
        reset = [("rmw", "z", "xchg", 0, 0, "relaxed", "gpu")] * r.randrange(2)
        test, last = r.choice([("eq", "ne"), ("eq", "ne"), ("ge", "ne")]), n - r.choice([1, 1, 1, 2])
        body = [("rmw", "o", "add", 0, 1, r.choice(["acq_rel", "acq_rel", "release"]), "gpu"), *[bar] * r.choice([1, 1, 0]),
                ("if", "o", test[0], last, reset + [("rmw", "q", r.choice(["xchg", "add"]), 1, 1, "release", "gpu")]), ("if", "o", test[1], last, [wait(1, 1, form)]), bar]
        return [("st", ("pid", 0)), bar, *body, ("ld", 0), ("ld", 1)]
    if kind == "flips":                                       # the counter reaches a bit when the last one has come, once or twice
        bit, twice = r.choice([4, 4, 4, 2]), r.random() < .5
        turn = lambda name: [bar, ("rmw", name, "add", 0, ("sel", 0, bit - n + 1, 1), "release", "gpu"), ("flip", 0, name, bit, "acquire", "gpu"), bar]  # noqa: E731
        return [("st", ("pid", 0)), *turn("a"), ("ld", 0), ("ld", 1)] + ([*turn("b"), ("st", ("pid", r.choice([1, 1, 0])))] if twice else [])
    if kind == "drawn":                                       # what it drew is what it waits for
        want = ("obs", "o") if r.random() < .5 else ("sel", 1, r.choice([1, 2]), 0)
        mine = [("rmw", "o", "add", r.choice([0, 0, 1]), 1, r.choice(["relaxed", "acq_rel"]), "gpu")]
        then = [("wait", 0, want, "acquire", "gpu", r.choice(["ge", "add0"]))] if r.random() < .5 else [("flip", 0, "o", r.choice([1, 2]), "acquire", "gpu")]
        return [("role", "ne", 1, [("st", 0), bar, add(0)]), ("role", "eq", 1, mine + then + [bar, ("ld", 0)])]
    if kind == "last":                                        # who comes last reads what all stored
        last = ("if", "o", r.choice(["eq", "eq", "ge"]), n - 1, [("ld", 0), ("ld", 1)])
        return [("for", 0, r.choice([1, 2]), [("st", ("pid", 0)), bar, ("rmw", "o", "add", ("k", 0), 1, "acq_rel", "gpu"), bar, last] + [bar] * r.randrange(2))]
    if kind == "winner":                                      # each step has one winner
        how = r.choice(["add", "add", "xchg", "or"])
        body = [("rmw", "o", how, ("k", 0), 1, "relaxed", "gpu"), ("if", "o", r.choice(["eq", "eq", "ne"]), r.choice([0, 0, 1]), [("st", ("k", 0))])]
        return [("for", 0, 2, body)]
    if kind == "opens":                                       # the last one opens a gate for the others
        return [("for", 0, 1, [("st", ("pid", 0)), bar, ("rmw", "o", "add", ("k", 0), 1, "acq_rel", "gpu"), bar,
                               ("if", "o", "eq", n - 1, [("rmw", "q", "xchg", 4, 1, "release", "gpu")]), wait(4, 1, form), bar, ("ld", 0), ("ld", 1)])]
    if kind == "phases":                                      # two barriers of the grid over one counter
        return [("st", ("pid", 0)), bar, add(0), wait(0, n), bar, ("ld", 0), ("ld", 1), bar, add(0), wait(0, 2 * n), bar, ("st", ("pid", r.choice([1, 1, 0])))]
    if kind == "back":                                        # one cell, handed over and back
        gap = r.choice([0, 0, 0, -1])
        return [("role", "eq", 0, [("for", 0, 2, [wait(1, ("k", gap)), bar, ("st", 0), bar, add(0)])]),
                ("role", "eq", 1, [("for", 0, 2, [wait(0, ("k", r.choice([1, 1, 0])), form), bar, (r.choice(["ld", "st"]), 0), bar, add(1)])])]
    if kind == "cells":                                       # a flag for each step, set by one program or the other
        first, how = r.choice([0, 1]), r.choice(["xchg", "xchg", "or", "add"])
        put = ("rmw", "p", how, ("k", 0), 1, "release", "gpu")
        return [("role", "eq", first, [("for", 0, 2, [("st", ("k", 0)), bar, put])]),
                ("role", "ne", first, [("for", 0, 2, [wait(("k", r.choice([0, 0, 0, 1])), 1, form), bar, (r.choice(["ld", "ld", "st"]), ("k", r.choice([0, 0, 1])))])])]
    if kind == "relay":                                       # through a program between, in a loop
        return [("role", "eq", 0, [("for", 0, 1, [("st", 0), bar, add(0)])]),
                ("role", "eq", 1, [("for", 0, 1, [wait(0, 1), bar, add(1)])]),
                ("role", "gt", 1 if n > 2 else 0, [("for", 0, 1, [wait(1, 1), bar, (r.choice(["ld", "st"]), 0)])])]
    if kind == "bits":                                        # a bit for each program
        return [("for", 0, 1, [("st", ("pid", 0)), bar, ("rmw", "p", "or", 0, ("sel", 0, 1, r.choice([2, 2, 1])), "release", "gpu"),
                               wait(0, 3, form), bar, ("ld", r.choice([0, 1]))])]
    return [("role", "eq", 0, [("for", 0, 2, [("st", ("k", 0)), bar, add(0)])]),      # one counter, a step for each cell
            ("role", "ne", 0, [("for", 0, 2, [wait(0, ("k", r.choice([1, 1, 0])), form), bar, ("ld", ("k", 0))])])]


def guards_kernel(r, n):
    """What happens only with some results, also of what leaves the location as it is, beside programs that add (--patterns=guards)."""
    bar, sem = ("bar",), lambda: r.choice(["relaxed", "acquire", "release", "acq_rel", "acq_rel"])             # noqa: E731
    amount = lambda: r.choice([0, 1, 1, 2, ("sel", 0, 1, 2), ("sel", 0, 0, 1)])                                # noqa: E731
    def take(name, f):
        c = r.choice([0, 1, 2, 3])
        return r.choice([("rmw", name, "add", f, amount(), sem(), "gpu"), ("rmw", name, "add", f, amount(), sem(), "gpu"),
                         ("rmw", name, "or", f, r.choice([0, 1]), sem(), "gpu"), ("rmw", name, "xchg", f, r.choice([1, 2]), sem(), "gpu"),
                         ("cas", name, f, c, c, sem(), "gpu"), ("cas", name, f, r.choice([0, 1]), r.choice([1, 2]), sem(), "gpu"),
                         ("look", name, f, r.choice(["relaxed", "acquire"]), "gpu"), ("try", name, f, r.choice([0, 1, 2]), r.choice(["relaxed", "acquire"]), "gpu")])
    def test(name, body): return ("if", name, r.choice(["eq", "eq", "ge", "ne"]), r.randrange(3), body)
    cell = lambda: r.choice([0, 0, 0, 1, ("pid", 0)])                                                          # noqa: E731
    def body(prefix):
        out = []
        if r.random() < .5:
            out += [("st", cell()), bar]
        if r.random() < .2:
            out += [("wait", r.randrange(2), r.choice([0, 1, 2]), "acquire", "gpu", r.choice(["ge", "add0", "cas", "load", "poll"])), bar]
        f = r.choice([0, 0, 1])
        out += [take(prefix + "o", f)] + [bar] * (r.random() < .7)
        inner = [(r.choice(["st", "st", "ld"]), cell())]
        if r.random() < .3:
            inner += [bar, ("rmw", prefix + "q", r.choice(["xchg", "add"]), r.choice([1, 1, 0]), r.choice([1, 2]), "release", "gpu")]
        out += [test(prefix + "o", inner)]
        if r.random() < .35:
            out += [bar] * (r.random() < .6) + [r.choice([take(prefix + "u", r.choice([f, 1])), ("wait", 1, 1, "acquire", "gpu", "ge")]), bar, (r.choice(["st", "ld"]), cell())]
            if out[-3 if len(out) > 2 else 0][0] in ("rmw", "cas") and r.random() < .6:
                out[-1] = test(prefix + "u", [out[-1]])
        return out
    both = body("a")
    if r.random() < .5:
        return [("for", 0, 1, both)]
    other = r.choice([body("b"), [("rmw", "z", r.choice(["add", "add", "or", "xchg"]), r.randrange(2), r.choice([1, 2]), sem(), "gpu")]])
    which = r.choice([("eq", "ne"), ("ne", "eq")])
    at = r.randrange(n)
    return [("role", which[0], at, [("for", 0, 1, both)]), ("role", which[1], at, [("for", 0, 1, other)])]


def soup(r, prefix):
    """Two or three random atomics of two flags, and accesses that their results guard."""
    out, names = [], []
    for k in range(r.choice([2, 2, 3])):
        name, flag, sem = f"{prefix}{k}", r.randrange(2), r.choice(["relaxed", "relaxed", "acquire", "release", "acq_rel"])
        value = ("obs", r.choice(names)) if names and r.random() < .25 else r.randrange(3)
        if r.random() < .25:
            out.append(("cas", name, flag, r.randrange(2), value, sem, "gpu"))
        else:
            kind = r.choice(["add", "add", "xchg", "or"])
            out.append(("rmw", name, kind, flag, value if r.random() < .7 else 0, sem, "gpu"))
        if names and r.random() < .3:                         # may not run
            out[-1] = ("if", r.choice(names), r.choice(["eq", "ne"]), r.randrange(2), [out[-1]])
        else:
            names.append(name)
        if r.random() < .6:
            out.append(("bar",))
        if r.random() < .4:
            out.append((r.choice(["st", "ld"]), r.randrange(2)))
            if r.random() < .6:
                out.append(("bar",))
    guarded = [("st" if prefix == "a" or r.random() < .3 else r.choice(["st", "ld"]), 0)]
    for name in r.sample(names, min(len(names), r.choice([1, 1, 2]))):
        guarded = [("if", name, r.choice(["eq", "ne", "ge"]), r.randrange(3), guarded)]
    return out + guarded


def mutate(r, ops):
    """One random change somewhere in the tree."""
    paths = []

    def walk(ops, path):
        for i, o in enumerate(ops):
            paths.append(path + [i])
            if o[0] in NEST:
                walk(o[-1], path + [i])
    walk(ops, [])
    where = r.choice(paths)

    def change(ops, path):
        ops = list(ops)
        i = path[0]
        o = ops[i]
        if len(path) > 1:
            ops[i] = o[:-1] + (change(o[-1], path[1:]),)
            return ops
        if o[0] == "bar":
            del ops[i]
            return ops
        sems = ["relaxed", "acquire", "release", "acq_rel"]
        if o[0] == "rmw":
            k = r.randrange(6)
            ops[i] = (o[0], o[1], r.choice(["add", "xchg", "or"]) if k == 0 else o[2], r.randrange(2) if k == 1 else o[3],
                      r.randrange(3) if k == 2 else o[4], r.choice(sems) if k >= 4 else o[5], "cta" if k == 3 and r.random() < .3 else o[6])
        elif o[0] == "cas":
            k = r.randrange(6)
            ops[i] = (o[0], o[1], r.randrange(2) if k == 1 else o[2], r.randrange(3) if k == 0 else o[3],
                      r.randrange(3) if k == 2 else o[4], r.choice(sems) if k >= 4 else o[5], "cta" if k == 3 and r.random() < .3 else o[6])
        elif o[0] == "wait":
            k = r.randrange(4)
            if o[5] in ("load", "poll"):                      # there is no such release
                sems = sems[:2]
            ops[i] = (o[0], o[1] if k else r.randrange(2), r.randrange(3) if k == 1 and o[5] != "lock" else o[2], r.choice(sems) if k >= 2 else o[3], o[4], o[5])
        elif o[0] == "if":
            ops[i] = (o[0], o[1], r.choice(["eq", "ge", "ne"]), r.randrange(3), o[4])
        elif o[0] == "flip":
            k = r.randrange(3)
            ops[i] = (o[0], o[1] if k else r.randrange(2), o[2], r.choice([1, 2, 4]) if k == 1 else o[3], r.choice(sems) if k == 2 else o[4], o[5])
        elif o[0] in ("st", "ld"):
            k = r.randrange(3)
            ops[i] = (o[0] if k else r.choice(["st", "ld"]), r.randrange(2) if k == 1 else o[1])
            if r.random() < .3:
                ops.insert(i, ("bar",))
        elif o[0] == "role":
            ops[i] = (o[0], r.choice(["eq", "ne", "gt"]), r.randrange(2), o[3])
        elif o[0] == "for":
            ops[i] = (o[0], r.randrange(2), r.choice([1, 2, 3, "pid"]), o[3])
        elif o[0] == "steal":
            k = r.randrange(4)
            ops[i] = (o[0], o[1], r.choice([TICKET, TICKET, 0]) if k == 0 else o[2], r.randrange(3) if k == 1 else o[3],
                      r.choice(["lt", "ne"]) if k == 2 else o[4], r.randrange(4) if k == 3 else o[5], r.choice(["draw", "top", "pid"]), o[7])
        return ops
    return change(ops, where)


def names_used(ops):
    for o in ops:
        if o[0] in ("rmw", "cas"):
            yield o[1]
        if o[0] in NEST:
            yield from names_used(o[-1])


PATTERNS = base_kernel


def make(seed):
    r = random.Random(seed)
    n = r.choice([2, 2, 3])
    ops = PATTERNS(r, n)
    for _ in range(r.choice([0, 0, 1, 1, 1, 2, 3])):
        ops = mutate(r, ops)
    init = [0] * TICKET
    if r.random() < .1:
        init[r.choice([0, 0, 1])] = r.randrange(3)
    return n, ops, init


# ---- text ------------------------------------------------------------------------------------------------------------
def text(ops, masks=False):
    """masks: what a branch guards is masked instead, where it is nothing but accesses."""
    lines, count, used = [], itertools.count(), {}
    for v in range(-1, 9):
        lines.append(f"    %n{v if v >= 0 else 'm1'} = arith.constant {v} : i32")
    lines += ["    %true = arith.constant true", "    %timeout = arith.constant 100 : i64", "    %pid = tt.get_program_id x : i32", "    %programs = tt.get_num_programs x : i32"]

    const_used = []

    def const(v):
        const_used.append(v)
        return f"%n{v}" if v >= 0 else "%nm1"

    def operand(v, out, pad, names):
        if not isinstance(v, tuple):
            return const(v)
        if v[0] == "obs":
            return names[v[1]]
        if v[0] == "k":
            x = f"%s{next(count)}"
            out.append(f"{pad}{x} = arith.addi {indices[-1]}, {const(v[1])} : i32")
            return x
        if v[0] in ("pid", "next"):
            x, y = f"%s{next(count)}", f"%s{next(count)}"
            out.append(f"{pad}{x} = arith.addi %pid, {const(v[1] if v[0] == 'pid' else 1)} : i32")
            if v[0] == "next":
                out.append(f"{pad}{y} = arith.remsi {x}, {const(v[1])} : i32")
            return x if v[0] == "pid" else y
        c, x = f"%c{next(count)}", f"%s{next(count)}"
        out.extend([f"{pad}{c} = arith.cmpi eq, %pid, {const(v[1])} : i32", f"{pad}{x} = arith.select {c}, {const(v[2])}, {const(v[3])} : i32"])
        return x

    indices = []

    def address(base, cell, out, pad, names):
        name = f"%a{next(count)}"
        if cell == TICKET:
            base, cell = "tick", 0
        index = const(cell) if not isinstance(cell, tuple) else None
        if isinstance(cell, tuple) and cell[0] in ("t", "d"):
            index, from_ = f"%i{next(count)}", names[cell[1]]
            if cell[0] == "d":
                from_ = f"%i{next(count)}"
                out.append(f"{pad}{from_} = arith.muli {names[cell[1]]}, {const(2)} : i32")
            out.append(f"{pad}{index} = arith.addi {from_}, {const(cell[2])} : i32")
        elif isinstance(cell, tuple):
            index = f"%i{next(count)}"
            out.append(f"{pad}{index} = arith.addi {'%pid' if cell[0] == 'pid' else indices[-1]}, {const(cell[1])} : i32")
        out.append(f"{pad}{name} = tt.addptr %{base}, {index} : !tt.ptr<i32>, i32")
        return name

    def emit(ops, pad, names, mask=None):
        for o in ops:
            if o[0] == "bar":
                lines.append(f"{pad}ttg.barrier all")
            elif o[0] == "st":
                a = address("data", o[1], lines, pad, names)
                lines.append(f"{pad}tt.store {a}, %n7{', ' + mask if mask else ''} : !tt.ptr<i32>")
            elif o[0] == "ld":
                a = address("data", o[1], lines, pad, names)
                v = f"%v{next(count)}"
                lines.append(f"{pad}{v} = tt.load {a}{', ' + mask if mask else ''} : !tt.ptr<i32>")
            elif o[0] == "rmw":
                a, v = address("flag", o[3], lines, pad, names), operand(o[4], lines, pad, names)
                names = dict(names, **{o[1]: f"%r{next(count)}"})
                word = {"add": "add", "xchg": "exch", "or": "or"}[o[2]]
                lines.append(f"{pad}{names[o[1]]} = tt.atomic_rmw {word}, {o[5]}, {o[6]}, {a}, {v}, {mask or '%true'} : "
                             "(!tt.ptr<i32>, i32, i1) -> i32")
            elif o[0] == "cas":
                a, v, w = address("flag", o[2], lines, pad, names), operand(o[3], lines, pad, names), operand(o[4], lines, pad, names)
                names = dict(names, **{o[1]: f"%r{next(count)}"})
                lines.append(f"{pad}{names[o[1]]} = tt.atomic_cas {o[5]}, {o[6]}, {a}, {v}, {w} : (!tt.ptr<i32>, i32, i32) -> i32")
            elif o[0] in ("look", "try"):
                a = address("flag", o[2], lines, pad, names)
                names = dict(names, **{o[1]: f"%r{next(count)}"})
                if o[0] == "look":
                    lines.append(f"{pad}{names[o[1]]} = tt.atomic_load {o[3]}, {o[4]}, {a}, %true : (!tt.ptr<i32>, i1) -> i32")
                else:
                    c = f"%c{next(count)}"
                    lines.extend([f"{pad}{c} = tt.atomic_poll {o[4]}, {o[5]}, {a}, {const(o[3])} timeout %timeout : !tt.ptr<i32>, i32 -> i1",
                                  f"{pad}{names[o[1]]} = arith.extui {c} : i1 to i32"])
            elif o[0] == "flip":
                a, v, x, y, c = address("flag", o[1], lines, pad, names), *(f"%w{next(count)}" for _ in range(3)), f"%c{next(count)}"
                lines.extend([f"{pad}scf.while : () -> () {{",
                              f"{pad}  {v} = tt.atomic_rmw add, {o[4]}, {o[5]}, {a}, %n0, %true : (!tt.ptr<i32>, i32, i1) -> i32",
                              f"{pad}  {x} = arith.xori {v}, {names[o[2]]} : i32", f"{pad}  {y} = arith.andi {x}, {const(o[3])} : i32",
                              f"{pad}  {c} = arith.cmpi eq, {y}, %n0 : i32", f"{pad}  scf.condition({c})", f"{pad}}} do {{",
                              f"{pad}  scf.yield", f"{pad}}}"])
            elif o[0] in ("wait", "await_lock"):
                flag, want, sem, scope, form = o[1:] if o[0] == "wait" else (o[1], 0, "acquire", "gpu", "lock")
                a, v, c = address("flag", flag, lines, pad, names), f"%w{next(count)}", f"%c{next(count)}"
                goal = operand(want, lines, pad, names)
                if form == "poll":
                    lines.append(f"{pad}{c} = tt.atomic_poll {sem}, {scope}, {a}, {goal} : !tt.ptr<i32>, i32 -> i1")
                    continue
                lines.append(f"{pad}scf.while : () -> () {{")
                if form in ("add0", "ge"):
                    lines.append(f"{pad}  {v} = tt.atomic_rmw add, {sem}, {scope}, {a}, %n0, %true : (!tt.ptr<i32>, i32, i1) -> i32")
                elif form == "load":
                    lines.append(f"{pad}  {v} = tt.atomic_load {sem}, {scope}, {a}, %true : (!tt.ptr<i32>, i1) -> i32")
                elif form == "cas":
                    lines.append(f"{pad}  {v} = tt.atomic_cas {sem}, {scope}, {a}, {goal}, {goal} : (!tt.ptr<i32>, i32, i32) -> i32")
                else:
                    lines.append(f"{pad}  {v} = tt.atomic_cas {sem}, {scope}, {a}, %n0, %n1 : (!tt.ptr<i32>, i32, i32) -> i32")
                lines.extend([f"{pad}  {c} = arith.cmpi {'slt' if form == 'ge' else 'ne'}, {v}, {goal} : i32", f"{pad}  scf.condition({c})", f"{pad}}} do {{",
                              f"{pad}  scf.yield", f"{pad}}}"])
            elif o[0] == "for":
                indices.append(f"%k{next(count)}")
                high = "%pid" if o[2] == "pid" else const(o[2])
                lines.append(f"{pad}scf.for {indices[-1]} = {const(o[1])} to {high} step %n1 : i32 {{")
                emit(o[-1], pad + "  ", names)
                lines.append(f"{pad}}}")
                indices.pop()
            elif o[0] == "steal":
                _, name, flag, by, rel, limit, form, body = o
                t, u, first, c, out = (f"%{x}{next(count)}" for x in "tuxcr")
                draw = lambda to, pad: lines.append(f"{pad}{to} = tt.atomic_rmw add, relaxed, gpu, {address('flag', flag, lines, pad, names)}, {const(by)}, %true : "  # noqa: E731
                                                    "(!tt.ptr<i32>, i32, i1) -> i32")
                if form == "pid":
                    first = "%pid"
                else:
                    draw(first, pad)
                lines.extend([f"{pad}{out} = scf.while ({t} = {first}) : (i32) -> i32 {{", f"{pad}  {c} = arith.cmpi {'slt' if rel == 'lt' else 'ne'}, {t}, {const(limit)} : i32",
                              f"{pad}  scf.condition({c}) {t} : i32", f"{pad}}} do {{", f"{pad}^bb0({u}: i32):"])
                following = f"%y{next(count)}"
                if form == "top":
                    draw(following, pad + "  ")
                emit(body, pad + "  ", dict(names, **{name: u}))
                if form != "top":
                    draw(following, pad + "  ")
                if form == "pid":
                    x, following = following, f"%y{next(count)}"
                    lines.append(f"{pad}  {following} = arith.addi {x}, %programs : i32")
                lines.extend([f"{pad}  scf.yield {following} : i32", f"{pad}}}"])
            elif o[0] in ("if", "role"):
                x = names[o[1]] if o[0] == "if" else "%pid"
                rel = {"eq": "eq", "ne": "ne", "ge": "sge", "gt": "sgt"}[o[2] if o[0] == "if" else o[1]]
                v = o[3] if o[0] == "if" else o[2]
                c = f"%c{next(count)}"
                lines.append(f"{pad}{c} = arith.cmpi {rel}, {x}, {const(v)} : i32")
                if masks and all(i[0] in ("st", "ld", "rmw") for i in o[-1]):
                    emit(o[-1], pad, names, c)
                    continue
                lines.append(f"{pad}scf.if {c} {{")
                emit(o[-1], pad + "  ", names)
                lines.append(f"{pad}}}")
        return names
    emit(ops, "    ", used)
    assert -1 <= min(const_used, default=0) and max(const_used, default=0) <= 8
    return "module {\n  tt.func public @k(%flag: !tt.ptr<i32>, %data: !tt.ptr<i32>, %tick: !tt.ptr<i32>) {\n" + "\n".join(lines) + \
           "\n    tt.return\n  }\n}\n"


def launch(n, init, name):
    cell = lambda ptr, count: {"dtype": "int32", "ptr": ptr, "shape": [count], "strides": [1]}   # noqa: E731
    return {"version": 1, "kernel": "k", "ttir": name, "grid": [n, 1, 1],
            "args": {"flag": {"tensor": dict(cell(65536, len(init)), values=init)}, "data": {"tensor": cell(131072, DATA)},
                     "tick": {"tensor": dict(cell(196608, 1), values=[0])}}}


# ---- oracle ------------------------------------------------------------------------------------------------------------
class Outside(Exception):
    """An access outside its tensor: no kernel of this test."""


class Event:
    __slots__ = ("p", "kind", "loc", "old", "new", "wrote", "sem", "scope", "epoch", "ctrl", "atomic", "id", "op", "data", "behind")

    def __init__(self, p, kind, loc, epoch, ctrl, old=None, new=None, wrote=False, sem="", scope="gpu", atomic=False, op=None, data=()):
        self.p, self.kind, self.loc, self.epoch, self.ctrl = p, kind, loc, epoch, ctrl
        self.old, self.new, self.wrote, self.sem, self.scope, self.atomic = old, new, wrote, sem, scope, atomic
        self.id, self.op, self.data = -1, op, data


def operand_values(v, n):
    if not isinstance(v, tuple):
        return [v]
    return [] if v[0] == "obs" else list(v[2:]) if v[0] == "sel" else [operand_at(v, p, {})[0] for p in range(n)]


def operand_at(v, pid, names):
    """Value of an operand, and the results that it is computed from."""
    if not isinstance(v, tuple):
        return v, ()
    if v[0] in ("pid", "next"):
        return (pid + v[1] if v[0] == "pid" else (pid + 1) % v[1]), ()
    return (names[v[1]][0], (names[v[1]][1],)) if v[0] == "obs" else (v[2] if pid == v[1] else v[3], ())


def domain(ops, init, n):
    """Values that a flag can hold: a closure that is large enough."""
    adds, ors, consts = [], [], set(init)

    def walk(ops, times=1):
        for o in ops:
            if o[0] == "rmw":
                if o[2] == "add":
                    adds.extend([set(operand_values(o[4], n)) or None] * times)
                else:
                    consts.update(operand_values(o[4], n))
                    if o[2] == "or":
                        ors.extend([set(operand_values(o[4], n)) or None] * times)
            elif o[0] == "cas":
                consts.update(operand_values(o[4], n))
            elif o[0] == "await_lock" or (o[0] == "wait" and o[5] == "lock"):
                consts.add(1)
            elif o[0] == "steal":
                adds.extend([{o[3]}] * (o[5] + 2) * times)
                walk(o[-1], times * TURNS)
            elif o[0] in NEST:
                walk(o[-1], times * max((n if o[2] == "pid" else o[2]) - o[1], 0) if o[0] == "for" else times)
    walk(ops)
    if any(a != {0} for a in adds):                           # a bit that is set where it was not is a sum
        adds += ors
    values = set(consts) | {a | b for a in consts for b in consts}
    most = max(max(s) if s else 4 for s in adds + [{0}]) * n * len(adds) + max(values)
    least = min(min(s) if s else 0 for s in adds + [{0}]) * n * len(adds) + min(values)
    for _ in range(n * sum(1 for a in adds if a != {0})):
        more = values | {v + a for v in values for s in adds for a in (s or values) if least <= v + a <= most}
        if more == values:
            break
        values = more
    return sorted(values)


def cell_of(cell, pid, names, cells):
    """The cell, and the results that it is computed from."""
    c, by = cell, ()
    if isinstance(cell, tuple):
        c, by = (names[cell[1]][0] * (2 if cell[0] == "d" else 1) + cell[2], names[cell[1]][1:]) if cell[0] in ("t", "d") else (pid + cell[1], ())
    if not 0 <= c < cells and (c != TICKET or isinstance(cell, tuple)):
        raise Outside
    return c, by


def at_index(ops, k):
    """The operations of one iteration, each with the one that it comes from behind it."""
    cell = lambda c: k + c[1] if isinstance(c, tuple) and c[0] == "k" else c          # noqa: E731
    out = []
    for o in ops:
        if o[0] in NEST:
            out.append(o[:-1] + (at_index(o[-1], k),))
        else:
            out.append(tuple(cell(x) for x in o))
    return out


def numbered(ops, count):
    """A number at the end of every store, so that its executions are known as those of one operation."""
    return [o[:-1] + (numbered(o[-1], count),) if o[0] in NEST else o + (next(count),) if o[0] == "st" else o for o in ops]


RISING = False                # every write of the kernel to a flag adds to it: no program reads less than it left


def rises(ops):
    for o in ops:
        amounts = (o[4][2:] if o[4][0] == "sel" else [-1]) if o[0] == "rmw" and isinstance(o[4], tuple) else [o[4]] if o[0] == "rmw" else []
        if o[0] in ("cas", "await_lock") or (o[0] == "wait" and o[5] == "lock") or (o[0] == "rmw" and (o[2] != "add" or min(amounts) < 0)) or (o[0] in NEST and not rises(o[-1])):
            return False
    return True


def least(events, cell):
    """Of a flag that only rises: what its program left there, or saw."""
    return max((e.new for e in events if e.loc == ("f", cell)), default=0)


def traces(ops, pid, values, cells, programs):
    """Every list of events that program pid can make, whatever it reads; (events, complete)."""
    out = []

    def run(todo, events, epoch, ctrl, names):
        if len(out) > 400:
            return
        while todo and todo[0][0] == "pop":                   # behind a branch
            ctrl, todo = tuple(c for c in ctrl if c is not todo[0][1]), todo[1:]
        if not todo:
            out.append((events, True))
            return
        o, rest = todo[0], todo[1:]
        if o[0] == "bar":
            run(rest, events, epoch + 1, ctrl, names)
        elif o[0] in ("st", "ld"):
            c, by = cell_of(o[1], pid, names, DATA)
            e = Event(pid, o[0], ("d", c), epoch, ctrl + by, wrote=o[0] == "st", op=o[2] if o[0] == "st" else None)
            run(rest, events + [e], epoch, ctrl, names)
        elif o[0] in ("rmw", "cas"):
            flag = o[3] if o[0] == "rmw" else o[2]
            c, by = cell_of(flag, pid, names, cells)
            x, data = operand_at(o[4], pid, names)
            for v in values:
                if o[0] == "rmw":
                    new = {"add": v + x, "xchg": x, "or": v | x}[o[2]]
                    wrote = True
                else:
                    cmp, more = operand_at(o[3], pid, names)
                    wrote = v == cmp
                    new = x if wrote else v
                    data = data + more
                if new not in values or (RISING and v < least(events, c)):
                    continue                                  # (no execution needs more than the domain)
                e = Event(pid, o[2] if o[0] == "rmw" else o[0], ("f", c), epoch, ctrl + by, v, new, wrote, o[5], o[6], True, data=data)
                run(rest, events + [e], epoch, ctrl, dict(names, **{o[1]: (v, e)}))
        elif o[0] in ("look", "try"):
            c, by = cell_of(o[2], pid, names, cells)
            for v in values:
                if RISING and v < least(events, c):
                    continue
                e = Event(pid, "load", ("f", c), epoch, ctrl + by, v, v, False, o[-2], o[-1], True)
                run(rest, events + [e], epoch, ctrl, dict(names, **{o[1]: (v if o[0] == "look" else int(v == o[3]), e)}))
        elif o[0] == "flip":
            c, by = cell_of(o[1], pid, names, cells)
            out.append((events, False))
            for v in values:
                e = Event(pid, "wait", ("f", c), epoch, ctrl, v, v, True, o[4], o[5], True)
                if (v ^ names[o[2]][0]) & o[3] == 0:
                    out.append((events + [e], False))
                else:
                    run(rest, events + [e], epoch, ctrl + (e, names[o[2]][1]), names)
        elif o[0] in ("wait", "await_lock"):
            flag, want, sem, scope, form = o[1:] if o[0] == "wait" else (o[1], 0, "acquire", "gpu", "lock")
            (c, by), want = cell_of(flag, pid, names, cells), operand_at(want, pid, names)[0]
            out.append((events, False))                       # it never ends ...
            for v in values:                                  # ... and an attempt that fails is an access too
                e = Event(pid, "wait", ("f", c), epoch, ctrl + by, v, v, form in ("add0", "ge"), sem, scope, True)
                if RISING and v < least(events, c):
                    continue
                if form == "ge" and v >= want:
                    run(rest, events + [e], epoch, ctrl + (e,), names)
                elif v != want:
                    out.append((events + [e], False))
            if form == "ge":
                return
            wrote = form == "add0" or form == "cas" or form == "lock"
            new = 1 if form == "lock" else want
            e = Event(pid, "wait", ("f", c), epoch, ctrl + by, want, new, wrote, sem, scope, True)
            run(rest, events + [e], epoch, ctrl + (e,), names)
        elif o[0] == "steal":
            # one more draw, and then a turn or the end; a name is (value, the draw), the program's own first one ("pid") has no draw
            _, name, flag, by, rel, limit, form, body = o[:8]
            turn, last = o[8:] if len(o) > 8 else (0, None)
            goes_on = lambda v: v < limit if rel == "lt" else v != limit                  # noqa: E731
            again = lambda t: (o[:8] + (turn + 1, t),)                                    # noqa: E731
            if turn > TURNS:
                out.append((events, False))                   # (not followed further)
                return
            drawn = []                                        # the draw of this moment
            c, _ = cell_of(flag, pid, names, cells)
            for v in values:
                if v + by in values and not (RISING and v < max((x.new for x in events if x.loc == ("f", c)), default=0)):
                    drawn.append((v, Event(pid, "add", ("f", c), epoch, ctrl, v, v + by, True, "relaxed", "gpu", True)))
            if form == "pid" and turn == 0:
                drawn = [(pid, None)]
            if not drawn:
                out.append((events, False))                   # beyond the domain
            for v, e in drawn:
                now = events + ([e] if e else [])
                name_of = lambda v, e: (v + (programs if form == "pid" and e else 0),) + ((e,) if e else ())      # noqa: E731
                if form != "top":
                    t = name_of(v, e)
                    if not goes_on(t[0]):
                        run(rest, now, epoch, ctrl + t[1:], names)
                    else:
                        run(list(body) + [("pop", x) for x in t[1:]] + list(again(None)) + rest, now, epoch, ctrl + t[1:], dict(names, **{name: t}))
                elif turn == 0:                               # the first one; each turn draws the next before its body
                    t = name_of(v, e)
                    if not goes_on(t[0]):
                        run(rest, now, epoch, ctrl + t[1:], names)
                    else:
                        run(list(again(t)) + rest, now, epoch, ctrl + t[1:], names)
                else:
                    t = name_of(v, e)
                    more = list(again(t)) if goes_on(t[0]) else []
                    run(list(body) + [("pop", last[1])] + more + rest, now, epoch, ctrl + t[1:], dict(names, **{name: last}))
        elif o[0] == "for":
            high = pid if o[2] == "pid" else o[2]
            run([x for k in range(o[1], high) for x in at_index(o[3], k)] + rest, events, epoch, ctrl, names)
        elif o[0] == "role":
            taken = {"eq": pid == o[2], "ne": pid != o[2], "gt": pid > o[2]}[o[1]]
            run((list(o[-1]) if taken else []) + rest, events, epoch, ctrl, names)
        else:
            v, e = names[o[1]]
            taken = {"eq": v == o[3], "ne": v != o[3], "ge": v >= o[3]}[o[2]]
            if taken:
                run(list(o[4]) + [("pop", e)] + rest, events, epoch, ctrl + (e,), names)
            else:
                run(rest, events, epoch, ctrl, names)

    run(list(ops), [], 0, (), {})
    return out


def sequences(events, start):
    """Orders of the atomics of one location: each reads what the one before left."""
    out = []
    by_program = {}
    for e in events:
        by_program.setdefault(e.p, []).append(e)
    lists = list(by_program.values())

    def go(pos, value, seq):
        if len(out) > 200:
            return
        if len(seq) == len(events):
            out.append(seq)
            return
        for k, l in enumerate(lists):
            if pos[k] < len(l) and l[pos[k]].old == value:
                e = l[pos[k]]
                go(pos[:k] + (pos[k] + 1,) + pos[k + 1:], e.new if e.wrote else value, seq + [e])
    go((0,) * len(lists), start, [])
    return out


def inclusive(a, b):
    return a.p == b.p or (a.scope == "gpu" and b.scope == "gpu")


CTA = False                   # --order=cta: barriers before scalar releases and behind scalar acquires


def count_barriers(events):
    """The barriers that come before each event in its program, the compiler's own included: two events are parted by one where the
    counts differ, whatever stands between."""
    count = {}
    for e in events:                                          # those of a program in its order
        own = CTA and e.atomic and e.sem in ("release", "acq_rel")
        count[e.p] = count.get(e.p, 0) + own
        e.behind = e.epoch + count[e.p]
        count[e.p] += CTA and e.atomic and e.sem in ("acquire", "acq_rel")


def consistent_orders(events, seqs):
    """The happens-before relation as a list of bit sets, or None when the execution is not possible."""
    n = len(events)
    after = [0] * n
    count_barriers(events)
    for a in events:
        for b in events:
            if a.p == b.p and a.behind < b.behind:
                after[a.id] |= 1 << b.id
    causes = [0] * (2 * n)                                    # no thin air: reads-from, data and control; reads, then writes
    for e in events:
        for c in e.ctrl + e.data:
            causes[c.id] |= 1 << n + e.id
        if e.kind != "xchg":                                  # what an exchange writes does not depend on what it reads
            causes[e.id] |= 1 << n + e.id
    for seq in seqs:
        source, heads = None, []                              # releases whose sequence is still unbroken
        for e in seq:
            if source is not None:
                causes[n + source.id] |= 1 << e.id
            linked = [h for h in heads if source is not None and inclusive(source, e)]
            if e.sem in ("acquire", "acq_rel"):
                for h in linked:
                    if inclusive(h, e) and h.p != e.p:
                        after[h.id] |= 1 << e.id
            if e.wrote:
                heads = linked + ([e] if e.sem in ("release", "acq_rel") else [])
                source = e
    for rel in (after, causes):
        for k in range(len(rel)):
            bit = 1 << k
            for i in range(len(rel)):
                if rel[i] & bit:
                    rel[i] |= rel[k]
        if any(rel[i] >> i & 1 for i in range(len(rel))):
            return None
    for seq in seqs:
        for i, e in enumerate(seq):
            for f in seq[:i]:
                if after[e.id] >> f.id & 1:
                    return None
    return after


def races_in(events, after):
    for a, b in itertools.combinations(events, 2):
        if a.loc != b.loc or not (a.wrote or b.wrote) or after[a.id] >> b.id & 1 or after[b.id] >> a.id & 1:
            continue
        if a.atomic and b.atomic and inclusive(a, b):
            continue
        if a.p == b.p and (a.atomic != b.atomic or (a.op is not None and a.op == b.op)):
            continue                                          # one operation at one place of the tile is one thread
        return True
    return False


def oracle(n, ops, init):
    """(race in a complete execution, race in any, complete executions) or None when there are too many."""
    values = domain(ops, init, n)
    ops = numbered(ops, itertools.count())
    global RISING
    RISING = rises(ops)
    per = [traces(ops, p, values, len(init), n) for p in range(n)]
    total = 1
    for t in per:
        total *= len(t)
    if total > LIMIT or any(len(t) > 400 for t in per):
        return None
    race_complete = race_any = False
    complete = 0
    for combination in itertools.product(*per):
        events = [e for t, _ in combination for e in t]
        done = all(c for _, c in combination)
        by_loc = {}
        for i, e in enumerate(events):
            e.id = i
            if e.loc[0] == "f":
                by_loc.setdefault(e.loc, []).append(e)
        options = []
        for loc, es in by_loc.items():
            s = sequences(es, init[loc[1]] if loc[1] != TICKET else 0)
            if not s:
                break
            options.append(s)
        if len(options) < len(by_loc):
            continue
        for seqs in itertools.product(*options):
            after = consistent_orders(events, seqs)
            if after is None:
                continue
            complete += done
            if races_in(events, after):
                race_any = True
                race_complete = race_complete or done
        if race_complete:
            return True, True, complete
    return race_complete, race_any, complete


def weakened(ops):
    out = []
    for o in ops:
        o = tuple("relaxed" if x in ("acquire", "release", "acq_rel") else x for x in o[:-1]) + (o[-1],) if o[0] in ("rmw", "cas", "wait", "flip", "look", "try") else o
        out.append(o[:-1] + (weakened(o[-1]),) if o[0] in NEST else o)
    return out


def asked(files, order):
    """name -> verdict, and what went wrong."""
    if "--orders" not in sys.argv:
        return check(program(), files, [f"--atomic-order={order}"], chunk=250)
    out = {}
    for k in range(0, len(files), 250):
        lines = subprocess.run([program(), *files[k:k + 250]], check=True, capture_output=True, text=True).stdout.splitlines()
        for name, line in zip(files[k:k + 250], lines):
            out[name] = {"status": "ok" if line.endswith(" ordered") else "unsupported"}
    return out, []


def planted(fault, count, seed):
    """A program in which a side condition is dropped must be found out: a proof of a kernel that races."""
    os.environ["POLYRACE_FAULT"] = fault
    with tempfile.TemporaryDirectory(prefix="explore-") as folder:
        for first in range(seed, seed + count, 200):
            kernels = {}
            for k in range(first, first + 200):
                n, ops, init = make(k)
                stem = os.path.join(folder, f"k{k}")
                with open(stem + ".ttir", "w", encoding="utf-8") as f:
                    f.write(text(ops, not CTA and k % 3 == 0))
                with open(stem + ".json", "w", encoding="utf-8") as f:
                    json.dump(launch(n, init, f"k{k}.ttir"), f)
                kernels[stem + ".json"] = (n, ops, init)
            verdicts, _ = asked(list(kernels), "strict")
            for name, (n, ops, init) in kernels.items():
                if verdicts[name]["status"] not in ("ok", "vacuous"):
                    continue
                try:
                    truth = oracle(n, ops, init)
                except Outside:
                    continue
                if truth and (truth[0] if verdicts[name]["status"] == "ok" else truth[2]):
                    print(f"fault {fault} found: {verdicts[name]['status']}, grid {n} start {init}\n  {ops}")
                    return 0
    print(f"FAIL fault {fault}: {count} kernels do not find it")
    return 1


def main():
    global CTA, PATTERNS
    opt = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--") and "=" in a)
    CTA = opt.get("order") == "cta"
    PATTERNS = {"gates": gates_kernel, "guards": guards_kernel, "locks": locks_kernel}.get(opt.get("patterns"), base_kernel)
    count, seed = int(opt.get("count", 5000)), int(opt.get("seed", 1))
    if "fault" in opt:
        return planted(opt["fault"], count, seed)
    folder = opt.get("keep") or tempfile.mkdtemp(prefix="explore-")
    os.makedirs(folder, exist_ok=True)
    kernels, files = {}, []
    for k in range(seed, seed + count):
        n, ops, init = make(k)
        stem = os.path.join(folder, f"k{k}")
        with open(stem + ".ttir", "w", encoding="utf-8") as f:
            f.write(text(ops, not CTA and k % 3 == 0))
        with open(stem + ".json", "w", encoding="utf-8") as f:
            json.dump(launch(n, init, f"k{k}.ttir"), f)
        kernels[stem + ".json"] = (n, ops, init)
        files.append(stem + ".json")
    verdicts, problems = asked(files, "cta" if CTA else "strict")
    tally, failed = {}, len(problems)
    for p in problems:
        print("FAIL", p)
    by_edge = skipped = judged = 0
    for name, (n, ops, init) in kernels.items():
        v = verdicts.get(name)
        if v is None:
            continue
        try:
            truth = oracle(n, ops, init)
        except Outside:
            truth = None
        if truth is None:
            skipped += 1
            continue
        judged += 1
        complete_race, any_race, complete = truth
        status = v["status"]
        tally[status] = tally.get(status, 0) + 1
        wrong = None
        if status == "ok" and complete_race:
            wrong = "a false proof"
        elif status == "races" and not any_race:
            wrong = "a false race"
        elif status == "races" and not all(r["confirmed"] for r in v["races"]) and "'try'" not in str(ops):      # (what a poll returns no run knows)
            wrong = "a race that is not confirmed"
        elif status == "vacuous" and complete:
            wrong = f"vacuous, but {complete} executions end"
        if wrong:
            failed += 1
            print(f"FAIL {name}: {wrong}\n  grid {n} start {init}\n  {ops}")
        if status == "ok":
            t = oracle(n, weakened(ops), init)
            by_edge += t is not None and t[0]
    decided = judged - tally.get("unsupported", 0)
    share = lambda x: round(100 * x / max(judged, 1), 1)              # noqa: E731
    print(f"{judged} kernels ({skipped} too large for the oracle): {tally}; decided {share(decided)} %, safe by an atomic edge "
          f"{share(by_edge)} %, racing {share(tally.get('races', 0))} %; {failed} failures")
    if not opt.get("keep"):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    if "--orders" in sys.argv:
        if tally.get("ok", 0) < .1 * judged:
            failed += 1
            print("FAIL hardly anything is ordered")
    elif not CTA and count >= 1000:
        for what, have, want in (("decided", decided, .6), ("safe by an atomic edge", by_edge, .2), ("racing", tally.get("races", 0), .2)):
            if have < want * judged:
                failed += 1
                print(f"FAIL only {share(have)} % {what}, {100 * want} % wanted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
