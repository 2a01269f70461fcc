"""Registry of the test kernels: launch descriptions, expectations and source labels.

Pure Python: nothing here imports triton or torch, so test runners may use `read_expectations` and
`resolve_label` on any machine. Topic files (elementwise.py, matmul.py, ...) call `case` next to each
kernel; only build.py imports those.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
REGISTRY = []          # every kernel in order of definition: dicts, twin entries follow their base

ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i32": 4, "i64": 8, "i16": 2, "i8": 1, "i1": 1, "u8": 1}
TORCH_NAME = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "i32": "int32",
              "i64": "int64", "i16": "int16", "i8": "int8", "i1": "bool", "u8": "uint8"}


def cdiv(a, b):
    return -(-a // b)


class Tensor:
    """A tensor argument. `of` names the argument whose storage it views, at `offset` elements of this dtype.
    `fill`: every element holds this number at launch; None: the launch does not give the contents."""

    def __init__(self, dtype, shape, strides=None, of=None, offset=0, align=16, fill=None):
        self.dtype = dtype
        self.shape = [shape] if isinstance(shape, int) else list(shape)
        if strides is None:
            strides, run = [], 1
            for extent in reversed(self.shape):
                strides.insert(0, run)
                run *= extent
        self.strides = list(strides)
        self.of, self.offset, self.align, self.fill = of, offset, align, fill
        self.ptr = None

    @property
    def width(self):
        return ELEMENT_BYTES[self.dtype]

    def span(self):
        """Lowest and one-past-highest byte relative to the pointer."""
        low = sum(min(0, (e - 1) * s) for e, s in zip(self.shape, self.strides))
        high = sum(max(0, (e - 1) * s) for e, s in zip(self.shape, self.strides))
        return low * self.width, (high + 1) * self.width


def T(dtype, *shape, **kw):
    return Tensor(dtype, list(shape), **kw)


def case(base, twin, launch, big, small, target=80, nospec=(), num_warps=4, big_twin=None, small_twin=None,
         min_triton=None, max_triton=None):
    """Register a kernel and its twin.

    launch(**sizes) returns (grid, tensors-and-derived-arguments); an argument missing there is taken from
    `sizes` by name. `big` are the sizes of the realistic launch, `small` those of the brute-force variant.
    `nospec` lists integer arguments compiled without specialisation, True for all of them. Releases outside
    `min_triton` to `max_triton` leave the kernel out.
    """
    for fn, role, bg, sm in ((base, "base", big, small), (twin, "twin", big_twin or big, small_twin or small)):
        REGISTRY.append(dict(fn=fn, name=fn.__name__, role=role, base=base.__name__, launch=launch, big=bg,
                             small=sm, target=target, nospec=nospec, num_warps=num_warps, min_triton=min_triton,
                             max_triton=max_triton))


def in_release(entry, text):
    """Whether this release of Triton takes the kernel."""
    def number(t):
        return tuple(int(x) for x in re.findall(r"\d+", t)[:3])
    return (not entry["min_triton"] or number(text) >= number(entry["min_triton"])) \
        and (not entry["max_triton"] or number(text) <= number(entry["max_triton"]))


def place(tensors, base=0x700000000):
    """Give every tensor a pointer: storages do not overlap, views lie inside the storage they name."""
    cursor = base
    for t in tensors.values():
        if t.of is None:
            low, high = t.span()
            cursor = -(-(cursor - low) // 512) * 512 + (t.align % 16)
            t.ptr = cursor
            t.storage = (cursor + low, high - low)
            cursor += high + 4096
    for t in tensors.values():
        if t.of is not None:
            host = tensors[t.of]
            t.ptr = host.ptr + t.offset * t.width
            t.storage = host.storage
            low, high = t.span()
            assert t.storage[0] <= t.ptr + low and t.ptr + high <= t.storage[0] + t.storage[1], "view leaves its storage"


# ------------------------------------------------------------------------------------------------ expectations

class Expectation:
    def __init__(self, name, status, fields, options):
        self.name, self.status, self.fields, self.options = name, status, fields, options

    def __repr__(self):
        return f"{self.name}: {self.status} {self.fields} {self.options}"


def read_expectations(path=None):
    """name -> Expectation; see the head of expect.txt for the format."""
    found = {}
    with open(path or os.path.join(HERE, "expect.txt"), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.split("  //")[0].strip()
            if not line or line.startswith("//"):
                continue
            words = re.findall(r'(?:[^\s"]|"[^"]*")+', line)
            name, status, rest = words[0], words[1], words[2:]
            if status not in ("ok", "races", "unsupported", "vacuous"):
                raise ValueError(f"expect.txt:{number}: status {status}")
            if name in found:
                raise ValueError(f"expect.txt:{number}: {name} twice")
            options = {k: v.strip('"') for k, v in (w.split("=", 1) for w in rest if "=" in w)}
            found[name] = Expectation(name, status, [w for w in rest if "=" not in w], options)
    return found


def topic_files():
    skip = ("registry.py", "build.py", "stats.py", "crosscheck.py", "support.py")
    return sorted(f for f in os.listdir(HERE) if f.endswith(".py") and f not in skip)


def read_labels():
    """(function, label) -> (file, line). A label is a comment `# @NAME` at the end of a source line."""
    labels = {}
    for file in topic_files():
        function = None
        with open(os.path.join(HERE, file), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                m = re.match(r"def (\w+)\(", line)
                if m:
                    function = m.group(1)
                m = re.search(r"# @(\w+)\s*$", line)
                if m:
                    for scope in (function, file):
                        labels.setdefault((scope, m.group(1)), []).append((file, number))
    return labels


_LABELS = None


def resolve_label(kernel, label):
    """(file, line) of `@X` in the kernel's own function, else the only `@X` of its file (a helper's label)."""
    global _LABELS
    if _LABELS is None:
        _LABELS = read_labels()
    label = label.lstrip("@")
    hits = _LABELS.get((kernel, label))
    if hits is None:
        owners = {f for (scope, _), hs in _LABELS.items() if scope == kernel for f, _ in hs}
        hits = [h for f in (owners or topic_files()) for h in _LABELS.get((f, label), [])]
    if len(set(hits)) != 1:
        raise KeyError(f"{kernel}: label @{label} resolves to {hits}")
    return hits[0]


def parse_race(word):
    """'WAW:@A:@B/programs' -> ('WAW', 'A', 'B', 'programs')."""
    m = re.fullmatch(r"(WAW|RAW|WAR):@(\w+):@(\w+)/(programs|threads)", word)
    if not m:
        raise ValueError(f"bad race field {word}")
    return m.groups()


def parse_refusal(word):
    m = re.fullmatch(r"([a-z-]+)(?::@(\w+))?", word)
    if not m:
        raise ValueError(f"bad refusal field {word}")
    return m.groups()
