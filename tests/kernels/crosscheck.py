#!/usr/bin/env python3
"""Second opinion on expect.txt: run every small launch in Triton's interpreter and collect the conflicts.

    python crosscheck.py [NAME...]          needs numpy beside Triton 3.9 or newer

No memory is read or written: accesses are recorded, loads give zero (contents are unknown anyway) and a compare and
swap finds what it looks for. Two accesses of one byte conflict as in the specification. Inside one program a later
barrier orders, one site's lane orders itself, and a load orders the store of the same lane position that follows
it: whether that store really depends on the load elementwise is not looked at, so DEPENDENCY lists the kernels
where an expected race rests on a missing dependency. Unrolled copies of one line count as one site.
"""
import importlib
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np                                               # noqa: E402
import triton                                                    # noqa: E402
import triton.language as tl                                     # noqa: E402
from triton.runtime import interpreter as ti                     # noqa: E402

import registry                                                  # noqa: E402

POINTEE = {"f32": tl.float32, "f16": tl.float16, "bf16": tl.bfloat16, "f64": tl.float64, "i32": tl.int32,
           "i64": tl.int64, "i16": tl.int16, "i8": tl.int8, "i1": tl.int1, "u8": tl.uint8}
DEPENDENCY = {"softmax_inplace_race", "softmax_two_pass_race", "reduce_in_place_race",
              "exchange_chain_race", "transpose_in_place_race"}
# Rows that crosscheck cannot judge: handovers through atomics, an address that depends on what others wrote.
BEYOND = {"handoff_spin_race", "trb013_plain"}
builder = ti.interpreter_builder


class Recorder:
    def __init__(self, storages):
        self.storages, self.bytes, self.epoch, self.pid = storages, {}, 0, None
        self.lanes = self.masked = self.outside = 0
        self.when = 0

    def access(self, kind, ptrs, mask, width, scope="gpu"):
        frame = sys._getframe(1)
        while os.path.dirname(frame.f_code.co_filename) != registry.HERE or "crosscheck" in frame.f_code.co_filename:
            frame = frame.f_back
        site = (os.path.basename(frame.f_code.co_filename), frame.f_lineno, 0 if kind == "load" else 1)
        addresses, active = np.broadcast_arrays(ptrs, mask)
        self.when += 1
        self.lanes += addresses.size
        self.masked += int((~active.astype(bool)).sum())
        for lane, (a, on) in enumerate(zip(addresses.ravel().tolist(), active.ravel().tolist())):
            if not on:
                continue
            if not any(lo <= a < lo + size for lo, size in self.storages):
                self.outside += 1
                continue
            x = (kind, scope, a, width, lane, addresses.shape, self.epoch, self.when)
            for b in range(a, a + width):
                self.bytes.setdefault(b, {}).setdefault(site, {}).setdefault(self.pid, []).append(x)


REC = None


def width_of(ptrs):
    return max(1, ptrs.get_element_ty().primitive_bitwidth // 8)


def masked_load(ptrs, mask, other, *_, **_kw):
    REC.access("load", ptrs.data, mask.data, width_of(ptrs))
    dtype = ptrs.get_element_ty()
    return ti.TensorHandle(np.zeros(ptrs.data.shape, dtype=ti._get_np_dtype(dtype)), dtype)


def masked_store(ptrs, value, mask, *_):
    REC.access("store", ptrs.data, mask.data, width_of(ptrs))


def atomic_rmw(op, ptr, val, mask, sem, scope):
    REC.access("atomic", ptr.data, mask.data, width_of(ptr), "cta" if "CTA" in str(scope) else "gpu")
    return ti.TensorHandle(np.zeros_like(val.data), val.dtype.scalar)


def atomic_cas(ptr, cmp, val, sem, scope):
    REC.access("atomic", ptr.data, np.ones(ptr.data.shape, bool), width_of(ptr))
    return ti.TensorHandle(cmp.data.copy(), cmp.dtype.scalar)


def barrier():
    REC.epoch += 1


builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
builder.create_atomic_rmw, builder.create_atomic_cas, builder.create_barrier = atomic_rmw, atomic_cas, barrier


def writes(x):
    return x[0] != "load"


def clash(x, y, same_program):
    if not (writes(x) or writes(y)):
        return False
    if x[0] == y[0] == "atomic" and x[2:4] == y[2:4] and (same_program or x[1] == y[1] == "gpu"):
        return False
    return True


def ordered(x, y, same_site):
    """Inside one program, x executed before y."""
    if x[6] != y[6]:
        return True
    if x[4] == y[4] and x[5] == y[5]:
        return same_site or (x[0] == "load" and writes(y))
    return False


def races(rec):
    found = set()
    for sites in rec.bytes.values():
        names = sorted(sites)
        for n, s in enumerate(names):
            for t in names[n:]:
                kinds_s = {(x[0], x[1], x[2], x[3]): x for xs in sites[s].values() for x in xs}
                kinds_t = {(x[0], x[1], x[2], x[3]): x for xs in sites[t].values() for x in xs}
                for x in kinds_s.values():
                    for y in kinds_t.values():
                        kind = ("W" if writes(y) else "R") + "A" + ("W" if writes(x) else "R")
                        if clash(x, y, False) and len(set(sites[s]) | set(sites[t])) > 1:
                            found.add((kind, s[:2], t[:2], "programs"))
                for pid in set(sites[s]) & set(sites[t]):
                    for x in sites[s][pid][:64]:
                        for y in sites[t][pid][:64]:
                            if s == t and x[7] > y[7] or x is y or (x[7] == y[7] and x[4] == y[4]):
                                continue
                            a, b = (x, y) if x[7] <= y[7] else (y, x)
                            if clash(x, y, True) and not (a[7] < b[7] and ordered(a, b, s == t)):
                                kind = ("W" if writes(y) else "R") + "A" + ("W" if writes(x) else "R")
                                found.add((kind, s[:2], t[:2], "threads"))
    return found


def run(entry):
    global REC
    sizes = entry["small"]
    grid, given = entry["launch"](**sizes)
    grid = tuple(grid) + (1,) * (3 - len(grid))
    tensors = {k: v for k, v in given.items() if isinstance(v, registry.Tensor)}
    registry.place(tensors)
    REC = Recorder(sorted({t.storage for t in tensors.values()}))
    args = {}
    fn = entry["fn"]
    constexprs = [p for p, a in fn.fn.__annotations__.items() if "constexpr" in str(a)]
    for name in fn.arg_names:
        value = given.get(name, sizes.get(name))
        if isinstance(value, registry.Tensor):
            ty = tl.pointer_type(POINTEE[value.dtype])
            args[name] = tl.tensor(ti.TensorHandle(np.array([value.ptr], dtype=np.uint64), ty), ty)
        else:
            args[name] = tl.constexpr(value) if name in constexprs else ti._implicit_cvt(value)
    patch = ti._patch_lang(fn.fn)
    try:
        body = fn.rewrite()
        builder.set_grid_dim(*grid)
        for x in range(grid[0]):
            for y in range(grid[1]):
                for z in range(grid[2]):
                    builder.set_grid_idx(x, y, z)
                    REC.pid, REC.epoch = (x, y, z), 0
                    body(**args)
    finally:
        patch.restore()
    return REC, races(REC)


def main():
    for file in registry.topic_files():
        importlib.import_module(file[:-3])
    expectations = registry.read_expectations()
    bad = 0
    for entry in registry.REGISTRY:
        name = entry["name"]
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        if not registry.in_release(entry, triton.__version__):
            print(f"{name}: not of Triton {triton.__version__}")
            continue
        e = expectations[name]
        try:
            rec, found = run(entry)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            bad += 1
            continue
        notes = []
        if rec.lanes > 20000:
            notes.append(f"{rec.lanes} lanes in the small launch")
        if not rec.masked:
            notes.append("no lane is masked off")
        if rec.outside:
            notes.append(f"{rec.outside} accesses leave their storage")
        wanted = set()
        if e.status == "races":
            for word in e.fields:
                kind, a, b, agents = registry.parse_race(word)
                wanted.add((kind, registry.resolve_label(name, a), registry.resolve_label(name, b), agents))
        if e.status != "unsupported" and found != wanted and name not in DEPENDENCY | BEYOND:
            bad += 1
            notes.append(f"MISMATCH extra {sorted(found - wanted)} missing {sorted(wanted - found)}")
        elif e.status == "unsupported" or name in DEPENDENCY | BEYOND:
            notes.append(f"{e.status} expected, here {sorted(found)}")
        if notes:
            print(f"{name}: " + "; ".join(notes))
    print(f"{len(registry.REGISTRY)} kernels, {bad} to look at")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
