"""Work that is drawn from a counter, without the counter: drawn(text, launch) gives every value a program of its own.

A loop `while t < n: ...; t = add(counter, step)` has no answer in brute force, as nobody knows which program draws which value. But no two
turns draw the same one, and which program takes a turn is open: what two turns share, two programs can share. So program p takes the turn of
the value p * step and leaves; where two of these overlap, the kernel races, as nothing orders adjacent turns of two programs. Only for loops of that
form: one `scf.while` over one i32, whose first value is a draw or the program id, whose next is a draw or a draw plus something.
"""
import re

from mutate import ATOMIC, NAME, PID, constants

WHILE = re.compile(rf"^\s*(?:{NAME} = )?scf\.while \({NAME} = ({NAME})\) : \(i32\) -> ")
YIELD = re.compile(rf"^\s*scf\.yield ({NAME}) : i32\b")
BEYOND = 1 << 24                                              # no loop goes on with that
PROGRAMS = 64


def drawn(text, doc):
    """(text, launch), or None where the kernel has another form."""
    lines = text.split("\n")
    known = constants(lines)
    loops = [(i, m[1]) for i, m in enumerate(map(WHILE.match, lines)) if m]
    atomics = [(i, m) for i, m in enumerate(map(ATOMIC.match, lines)) if m]
    if len(loops) != 1 or text.count("tt.atomic_") != len(atomics) or sum("scf.while" in line for line in lines) != 1:
        return None
    if any(m[3] != "add" or m[12] != "i32" or m[7] not in known for _, m in atomics) or len({(m[6], m[7]) for _, m in atomics}) != 1:
        return None
    start, first = loops[0]
    before, inside = [(i, m) for i, m in atomics if i < start], [(i, m) for i, m in atomics if i > start]
    ids = {m[2] for m in map(PID.match, lines) if m and m[3] == "x"}
    if len(inside) != 1 or len(before) > 1 or (before[0][1][2] != first if before else first not in ids):
        return None
    i, m = inside[0]
    used = [k for k, line in enumerate(lines) if k != i and re.search(rf"{re.escape(m[2])}(?![\w#])", line.split(" = ", 1)[-1])]
    if len(used) != 1:
        return None
    add = re.match(rf"\s*({NAME}) = arith\.addi ", lines[used[0]])
    following = [y[1] for y in map(YIELD.match, lines[i:]) if y]
    if not following or following[-1] != (add[1] if add else m[2]):
        return None
    new = list(lines)
    new[i] = f"{m[1]}{m[2]} = arith.constant {BEYOND} : i32"
    if before:
        at, b = before[0]
        new[at] = (f"{b[1]}%drawn_id = tt.get_program_id x : i32\n{b[1]}%drawn_step = arith.constant {known[b[7]][0]} : i32\n"
                   f"{b[1]}{b[2]} = arith.muli %drawn_id, %drawn_step : i32")
    return "\n".join(new), dict(doc, grid=[PROGRAMS, 1, 1])
