"""Mutations of TTIR texts: each takes away one thing that a proof may rest on.

mutants(text) yields (mutation, site, text): one change at one place, the text still well typed. Works on the generic and
the pretty form that Triton prints, one operation a line; nothing depends on names of kernels or values.
"""
import re

NAME = r"%[\w#]+"
TRUE = "%mutate_true"


def mask_type(pointer):
    """tensor<4x8x!tt.ptr<f32>> -> tensor<4x8xi1>"""
    m = re.match(r"tensor<((?:\d+x)+)!tt\.ptr", pointer)
    return f"tensor<{m[1]}i1>" if m else "i1"


def constant(name, type_, value):
    if type_.startswith("tensor<"):
        return f"{name} = arith.constant dense<{value}> : {type_}"
    return f"{name} = arith.constant {value}" if type_ == "i1" else f"{name} = arith.constant {value} : {type_}"


def zero(name, type_):
    element = re.sub(r"^tensor<(?:\d+x)+|>$", "", type_) if type_.startswith("tensor<") else type_
    if element == "i1":
        return constant(name, type_, "false")
    if re.fullmatch(r"i\d+", element):
        return constant(name, type_, "0")
    return constant(name, type_, "0.000000e+00") if re.fullmatch(r"b?f\d+", element) else None


def value_types(lines):
    """%name -> type, where a line tells."""
    types = {}
    for line in lines:
        m = re.match(rf"\s*({NAME}) = .* : (?:.*-> )?([^()]+?)(?: loc\(.*)?$", line)
        if m:
            types[m[1]] = m[2].split(",")[0].strip() if "tensor<" not in m[2] else m[2].strip()
    return types


def constants(lines):
    """%name -> (value, type) of scalar integer constants."""
    out = {}
    for line in lines:
        m = re.match(rf"\s*({NAME}) = arith\.constant (-?\d+) : (i32|i64)", line)
        if m:
            out[m[1]] = int(m[2]), m[3]
    return out


STORE = re.compile(rf"^(\s*)tt\.store ({NAME}), ({NAME})(?:, ({NAME}))?(.*?) : (tensor<[\dx]+!tt\.ptr<\w+>>|!tt\.ptr<\w+>)(.*)$")
LOAD = re.compile(rf"^(\s*)({NAME}) = tt\.load ({NAME}), ({NAME})(?:, ({NAME}))?(.*?) : (tensor<[\dx]+!tt\.ptr<\w+>>|!tt\.ptr<\w+>)(.*)$")
ATOMIC = re.compile(rf"^(\s*)({NAME}) = tt\.atomic_rmw (\w+), (\w+), (\w+), ({NAME}), ({NAME}), ({NAME}) : \((.+), (\S+), (\S+)\) -> (\S+)(.*)$")
CAS = re.compile(r"^(\s*\S+ = tt\.atomic_cas )(\w+)(, .*)$")
MULTIPLY = re.compile(rf"^(\s*{NAME} = arith\.muli )({NAME}), ({NAME})(.* : )(i32|i64)(.*)$")
PID = re.compile(rf"^(\s*)({NAME}) = tt\.get_program_id ([xyz]) : i32(.*)$")
COUNT = re.compile(rf"^(\s*)({NAME}) = tt\.get_num_programs ([xyz]) : i32(.*)$")
LESS = re.compile(r"^(\s*\S+ = arith\.cmpi )(slt|ult)(, .*)$")
REMAINDER = re.compile(r"^(\s*\S+ = arith\.)(remsi|divsi)( .*)$")
BARRIER = re.compile(r"^\s*(?:ttg\.barrier|gpu\.barrier)\b")
RANGE = re.compile(r"^(\s*\S+ = tt\.make_range \{end = )(\d+)( : i32, start = )(\d+)( : i32\}.*)$")


def mutants(text):
    lines = text.split("\n")
    types, known = value_types(lines), constants(lines)
    always = {m[1] for m in (re.match(rf"\s*({NAME}) = arith\.constant (?:true|dense<true>)", line) for line in lines) if m}
    uses = {}
    for line in lines:
        for name in re.findall(NAME, line.split(" = ", 1)[-1]):
            uses[name] = uses.get(name, 0) + 1

    def put(i, *new):
        return "\n".join([*lines[:i], *new, *lines[i + 1:]])

    for i, line in enumerate(lines):
        m = STORE.match(line)
        if m:
            indent, p, v, mask, rest, type_, tail = m.groups()
            if mask and mask not in always:
                yield "drop-mask", i, put(i, f"{indent}tt.store {p}, {v}{rest} : {type_}{tail}")
            name = zero("%mutate_zero", value_type(type_))
            if name and not (v in known or "cst" in v):
                yield "drop-dependence", i, put(i, indent + name, f"{indent}tt.store {p}, %mutate_zero{', ' + mask if mask else ''}{rest} : {type_}{tail}")
        m = LOAD.match(line)
        if m:
            indent, r, p, mask, other, rest, type_, tail = m.groups()
            if mask not in always:
                yield "drop-mask", i, put(i, f"{indent}{r} = tt.load {p}{rest} : {type_}{tail}")
        m = ATOMIC.match(line)
        if m:
            indent, r, op, sem, scope, p, v, mask, pt, vt, mt, rt, tail = m.groups()
            if sem != "relaxed":
                yield "relax", i, put(i, line.replace(f" {sem}, ", " relaxed, ", 1))
            if mask not in always:
                yield "drop-mask", i, put(i, indent + constant(TRUE, mt, "true"), line.replace(f", {mask} :", f", {TRUE} :", 1))
            tail = re.sub(r"\{.*?\}", "", tail)
            store = [f"{indent}tt.store {p}, {v}, {mask} : {pt}{tail}"]
            if uses.get(r):
                store.insert(0, f"{indent}{r} = tt.load {p}, {mask} : {pt}{tail}")
            yield "atomic-to-store", i, put(i, *store)
        m = CAS.match(line)
        if m and m[2] != "relaxed":
            yield "relax", i, put(i, f"{m[1]}relaxed{m[3]}")
        if BARRIER.match(line):
            yield "drop-barrier", i, put(i)
        m = MULTIPLY.match(line)
        if m:
            head, a, b, mid, type_, tail = m.groups()
            for at, name in ((0, a), (1, b)):
                if name not in known or known[name][0] < 2:
                    continue
                for how, value in (("shrink-stride", known[name][0] // 2), ("stride-minus-1", known[name][0] - 1)):
                    pair = ["%mutate_stride", b] if at == 0 else [a, "%mutate_stride"]
                    if value >= 1:
                        yield how, i, put(i, f"    %mutate_stride = arith.constant {value} : {type_}", f"{head}{pair[0]}, {pair[1]}{mid}{type_}{tail}")
        m = PID.match(line)
        if m:
            yield "pin-pid", i, put(i, f"{m[1]}{m[2]} = arith.constant 0 : i32{m[4]}")
            for axis in "xyz":
                if axis != m[3]:
                    yield "swap-pid", i, put(i, f"{m[1]}{m[2]} = tt.get_program_id {axis} : i32{m[4]}")
        m = COUNT.match(line)
        if m:
            yield "fewer-programs", i, put(i, f"{m[1]}%mutate_n = tt.get_num_programs {m[3]} : i32{m[4]}", f"{m[1]}%mutate_one = arith.constant 1 : i32",
                                           f"{m[1]}{m[2]} = arith.subi %mutate_n, %mutate_one : i32{m[4]}")
        m = LESS.match(line)
        if m:
            yield "mask-off-by-one", i, put(i, m[1] + m[2].replace("t", "e") + m[3])
        m = REMAINDER.match(line)
        if m:
            yield "remap", i, put(i, m[1] + {"remsi": "divsi", "divsi": "remsi"}[m[2]] + m[3])
        m = RANGE.match(line)
        if m:
            by = int(m[2]) - int(m[4])
            yield "shift-tile", i, put(i, f"{m[1]}{int(m[2]) + by // 2 + 1}{m[3]}{int(m[4]) + by // 2 + 1}{m[5]}")
    for n, changed in grown(text):
        yield "grow-tile", n, changed


def grown(text):
    """(extent, text): every tile dimension of one extent twice as long, while the steps between programs stay. Other dimensions of that
    extent grow too; what is then ill typed (a constant with all its elements) does not parse."""
    extents = sorted({int(m[2]) for m in map(RANGE.match, text.split("\n")) if m and m[4] == "0"})
    for n in extents:
        def shape(m, n=n):
            return m[1] + "".join(f"{2 * int(d)}x" if int(d) == n else f"{d}x" for d in m[2].split("x")[:-1])
        grown_text = re.sub(r"(tensor<)((?:\d+x)+)", shape, text)
        grown_text = re.sub(rf"(tt\.make_range \{{end = ){n}( : i32, start = 0 : i32\}})", rf"\g<1>{2 * n}\2", grown_text)
        yield n, grown_text


def value_type(pointer):
    """Type of what a pointer type points to."""
    m = re.match(r"tensor<((?:\d+x)+)!tt\.ptr<(\w+)>>", pointer)
    return f"tensor<{m[1]}{m[2]}>" if m else re.match(r"!tt\.ptr<(\w+)>", pointer)[1]


def launch_mutants(text, doc):
    """(mutation, site, changed launch): integer arguments that are multiplied by something, made smaller."""
    import copy
    multiplied = set()
    for line in text.split("\n"):
        m = re.match(rf"\s*({NAME}) = tt\.splat %(\w+) :", line)
        if m and re.search(rf"arith\.muli .*{re.escape(m[1])}\b", text):
            multiplied.add(m[2])
        m = re.match(rf"\s*{NAME} = arith\.muli %(\w+), %(\w+) :", line)
        if m:
            multiplied |= set(m.groups())
    for name, value in doc.get("args", {}).items():
        if isinstance(value, int) and not isinstance(value, bool) and value >= 2 and name in multiplied:
            unit = 16 if value % 16 == 0 and value > 16 else 1
            for how, new in (("shrink-argument", value - unit), ("halve-argument", value // 2 // unit * unit)):
                if 0 < new < value:
                    changed = copy.deepcopy(doc)
                    changed["args"][name] = new
                    yield how, name, changed
