"""What a pitfall case is. Pure Python: kernels.py can be imported on a machine without triton, because
only build.py looks inside the kernels."""
import os
import re
import sys

# The directory of kernels.py and ttir/: this one, or another suite of the same form (--suite=DIR).
HERE = os.path.abspath(next((a[8:] for a in sys.argv if a.startswith("--suite=")), os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, HERE)
WIDTH = {"i1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f8": 1}
TORCH = {"i1": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
         "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8": "float8_e4m3fn"}
POINTEE = {"i1": "*i1", "i8": "*i8", "u8": "*u8", "i16": "*i16", "u16": "*u16", "i32": "*i32", "u32": "*u32", "i64": "*i64", "u64": "*u64",
           "f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "f64": "*fp64", "f8": "*fp8e4nv"}
CASES = []


class T:
    """A tensor argument: dtype, shape; `before` elements of storage in front of it; view of another
    argument at a byte offset; contents."""

    def __init__(self, dtype, *shape, strides=None, before=0, after=0, of=None, at=0, values=None):
        self.dtype, self.shape, self.before, self.after = dtype, list(shape), before, after
        self.of, self.at, self.values = of, at, values
        self.strides = list(strides) if strides else None

    def place(self, cursor, others):
        w = WIDTH[self.dtype]
        strides, run = [], 1
        for extent in reversed(self.shape):
            strides.insert(0, run)
            run *= extent
        self.strides = self.strides or strides
        span = (sum((e - 1) * s for e, s in zip(self.shape, self.strides)) + 1) * w
        if self.of:
            host = others[self.of]
            self.ptr, self.storage = host.ptr + self.at, host.storage
            return cursor
        self.storage = (cursor, (self.before + self.after) * w + span)
        self.ptr = cursor + self.before * w
        return (cursor + self.storage[1] + 4096) // 512 * 512 + 512

    def json(self):
        low = self.storage[0]
        out = {"dtype": TORCH[self.dtype], "ptr": self.ptr, "shape": self.shape, "strides": self.strides,
               "storage": {"ptr": low, "bytes": self.storage[1]}}
        if self.values is not None:
            out["values"] = self.values
        return {"tensor": out}


class Case:
    def __init__(self, **kw):
        self.__dict__.update(kw)


def case(name, fn, expect, grid=(1,), args=None, nospec=(), edit=(), options=(), target=80, num_warps=4,
         num_ctas=1, text=None, triton=None):
    """One kernel at one launch.

    expect   see README.md; text: hand-written TTIR in hand/TEXT.ttir instead of fn
    args     values by name; constexpr ones too.   edit: (old, new) replacements in the compiled text
    options  extra options of `polyrace check`;   triton: the release that the launch file names
    """
    assert all(c.name != name for c in CASES), name
    CASES.append(Case(name=name, fn=fn, expect=expect, grid=tuple(grid) + (1,) * (3 - len(grid)), args=args or {},
                      nospec=nospec, edit=edit, options=list(options), target=target, num_warps=num_warps,
                      num_ctas=num_ctas, text=text, triton=triton))


def load_triton():
    """triton and triton.language, or stand-ins that let kernels.py be imported without triton."""
    if "triton" in sys.modules or os.environ.get("POLYRACE_NEED_TRITON"):
        import triton
        import triton.language as tl
        return triton, tl

    class Anything:
        def __getattr__(self, name):
            return lambda fn=None, **kw: fn or (lambda f: f)      # @triton.jit, @triton.jit(noinline=True)
    return Anything(), Anything()


_LABELS = None


def label_line(fn_name, label):
    """Source line of `# @LABEL` in the function of kernels.py."""
    global _LABELS
    if _LABELS is None:
        _LABELS, function = {}, None
        with open(os.path.join(HERE, "kernels.py"), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                m = re.match(r"def (\w+)\(", line)
                if m:
                    function = m.group(1)
                m = re.search(r"# @(\w+)\s*$", line)
                if m:
                    _LABELS[function, m.group(1)] = number
    if label.isdigit():
        return int(label)
    return _LABELS[fn_name, label]
