#!/usr/bin/env python3
"""A second opinion on suites of this form: interpret.py --suite=DIR [NAME...]. Every launch runs in Triton's interpreter, one program after
the other, and what its accesses touch is compared; needs Triton 3.8 and numpy.

It shares nothing with polyrace, not even the compiler's text. It is no oracle for what only other orders of programs show, and inside a program
it takes a load to be before the store of the same lane that follows it (polyrace asks for a dependency). Printed is each case whose
expectation allows only the other answer (kernels that wait do not end); cases that the interpreter cannot run (assembly, library calls, aggregates) are named."""
import os
import sys

os.environ["TRITON_INTERPRET"] = os.environ["POLYRACE_NEED_TRITON"] = "1"

import numpy as np                                               # noqa: E402
import triton.language as tl                                     # noqa: E402
from triton.runtime import interpreter as ti                     # noqa: E402

from cases import CASES, POINTEE, T                              # noqa: E402
import kernels                                                   # noqa: E402,F401

TYPE = {name: tl.str_to_ty(pointee, None).element_ty for name, pointee in POINTEE.items()}
MOST_KEPT = 40        # accesses of one kind by one program at one byte that are compared with each other


class Memory:
    """Bytes of the launch's storages, and the accesses so far."""

    def __init__(self, regions):
        self.regions, self.events, self.pid, self.epoch = regions, [], None, 0

    def place(self, address, width):
        for low, data in self.regions:
            if low <= address and address + width <= low + len(data):
                return data, address - low
        return None, 0                                           # outside: nothing is there

    def note(self, kind, pointers, mask, width):
        frame = sys._getframe(2)
        while frame and os.path.basename(frame.f_code.co_filename) != "kernels.py":
            frame = frame.f_back
        pointers, mask = np.broadcast_arrays(pointers, mask)
        on = mask.astype(bool).ravel()
        where = (frame.f_lineno if frame else 0, self.epoch, pointers.shape)
        self.events.append((self.pid, kind, width, pointers.ravel()[on].astype(np.int64), np.nonzero(on)[0], where))

    def read(self, pointers, mask, dtype, other=None):
        out = np.zeros(pointers.shape, dtype) if other is None else np.array(np.broadcast_to(other, pointers.shape), dtype)
        flat, on = out.reshape(-1), np.broadcast_to(mask, pointers.shape).ravel()
        for k, address in enumerate(pointers.ravel().tolist()):
            data, at = self.place(address, out.itemsize) if on[k] else (None, 0)
            if data is not None:
                flat[k] = np.frombuffer(data[at:at + out.itemsize].tobytes(), dtype)[0]
        return out

    def write(self, pointers, values, mask):
        flat = np.ascontiguousarray(np.broadcast_to(values, pointers.shape)).reshape(-1)
        on = np.broadcast_to(mask, pointers.shape).ravel()
        for k, address in enumerate(pointers.ravel().tolist()):
            data, at = self.place(address, flat.itemsize) if on[k] else (None, 0)
            if data is not None:
                data[at:at + flat.itemsize] = np.frombuffer(flat[k:k + 1].tobytes(), np.uint8)


MEMORY = None


def width_of(pointer):
    return max(1, pointer.get_element_ty().primitive_bitwidth // 8)


def masked_load(pointer, mask, other, *_, **_kw):
    MEMORY.note("load", pointer.data, mask.data, width_of(pointer))
    ty = pointer.get_element_ty()
    return ti.TensorHandle(MEMORY.read(pointer.data, mask.data, ti._get_np_dtype(ty), other.data if other is not None else None), ty)


def masked_store(pointer, value, mask, *_):
    MEMORY.note("store", pointer.data, mask.data, width_of(pointer))
    MEMORY.write(pointer.data, value.data, mask.data)


def all_on(pointer):
    return ti.TensorHandle(np.ones_like(pointer.data, dtype=bool), tl.int1)


NEW = {"ADD": np.add, "FADD": np.add, "MIN": np.minimum, "UMIN": np.minimum, "MAX": np.maximum, "UMAX": np.maximum, "AND": np.bitwise_and,
       "OR": np.bitwise_or, "XOR": np.bitwise_xor, "XCHG": lambda old, x: x}


def atomic(pointer, values, mask, scope, new):
    """One lane after the other; what was there before."""
    MEMORY.note("cta" if "CTA" in str(scope) else "atomic", pointer.data, mask, width_of(pointer))
    pointers, values, mask = np.broadcast_arrays(pointer.data, values, mask)
    out, one = np.zeros(pointers.shape, values.dtype), np.ones(1, bool)
    for k in np.ndindex(pointers.shape):
        if mask[k]:
            here = pointers[k].reshape(1)
            out[k] = MEMORY.read(here, one, values.dtype)[0]
            with np.errstate(all="ignore"):
                MEMORY.write(here, np.asarray(new(out[k], values[k], k)).astype(values.dtype).reshape(1), one)
    return out


def atomic_rmw(op, pointer, value, mask, _sem, scope):
    f = NEW[str(op).rsplit(".", 1)[-1]]
    return ti.TensorHandle(atomic(pointer, value.data, mask.data, scope, lambda old, x, _: f(old, x)), value.dtype.scalar)


def atomic_cas(pointer, compare, value, _sem, scope):
    expected = np.broadcast_to(compare.data, pointer.data.shape)
    out = atomic(pointer, value.data, np.ones(pointer.data.shape, bool), scope, lambda old, x, k: x if old == expected[k] else old)
    return ti.TensorHandle(out, value.dtype.scalar)


def descriptor_reduce(_kind, descriptor, _value, indices, *_):
    pointers, mask = descriptor.materialize_pointers(indices)
    MEMORY.note("reduce", pointers.data, mask, width_of(pointers))


def barrier():
    MEMORY.epoch += 1


builder = ti.interpreter_builder
builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
builder.create_load = lambda pointer, *_a, **_kw: masked_load(pointer, all_on(pointer), None)
builder.create_store = lambda pointer, value, *_a: masked_store(pointer, value, all_on(pointer))
builder.create_atomic_rmw, builder.create_atomic_cas, builder.create_barrier = atomic_rmw, atomic_cas, barrier
builder.create_descriptor_reduce = descriptor_reduce


def clash(a, b, one_program):
    """(kind, first byte, width) of two accesses of one byte."""
    if a[0] == b[0] == "load":
        return False
    if a == b and (a[0] in ("atomic", "reduce") or (a[0] == "cta" and one_program)):
        return False
    return not (one_program and {a[0], b[0]} == {"atomic", "cta"} and a[1:] == b[1:])


def ordered(a, b):
    """(number, lane, kind, (line, epoch, shape)) of two accesses of one program, the earlier first."""
    if a[3][1] != b[3][1]:
        return True
    same_lane = a[0] != b[0] and a[1] == b[1] and a[3][2] == b[3][2]
    return same_lane and (a[3][0] == b[3][0] or (a[2] == "load" and b[2] != "load"))


def conflict(events):
    at = {}
    for number, (pid, kind, width, addresses, lanes, where) in enumerate(events):
        for address, lane in zip(addresses.tolist(), lanes.tolist()):
            for byte in range(address, address + width):
                same = at.setdefault(byte, {}).setdefault((pid, (kind, address, width)), [])
                if len(same) < MOST_KEPT:
                    same.append((number, lane, kind, where))
    for byte, found in at.items():
        keys = list(found)
        for i, a in enumerate(keys):
            for b in keys[i:]:
                if not clash(a[1], b[1], a[0] == b[0]):
                    continue
                if a[0] != b[0]:
                    return f"programs {a[0]} and {b[0]} at byte {byte:#x}"
                for x in found[a]:
                    for y in found[b]:
                        if x[:2] != y[:2] and not ordered(*sorted((x, y))):
                            return f"program {a[0]}: lanes {x[1]} and {y[1]} at byte {byte:#x}"
    return None


def prepare(case):
    cursor, regions = 0x700000000, {}
    tensors = [v for v in case.args.values() if isinstance(v, T)]
    for v in tensors:
        if not v.of:
            cursor = v.place(cursor, case.args)
    for v in tensors:
        if v.of:
            v.place(0, case.args)
        low, size = v.storage
        if size < 1 << 26:
            regions.setdefault(low, np.zeros(size, np.uint8))
    memory = Memory(sorted(regions.items()))
    for v in tensors:
        if v.values is not None:
            data = np.array(v.values).astype(ti._get_np_dtype(TYPE[v.dtype])).reshape(v.shape)
            for k in np.ndindex(*v.shape):
                offset = sum(i * s for i, s in zip(k, v.strides)) * data.itemsize
                memory.write(np.array([v.ptr + offset]), data[k].reshape(1), np.ones(1, bool))
    return memory


def run(case):
    global MEMORY
    MEMORY, args = prepare(case), {}
    notes = case.fn.fn.__annotations__
    for name in case.fn.arg_names:
        value = case.args[name]
        if isinstance(value, T):
            ty = tl.pointer_type(TYPE[value.dtype])
            args[name] = tl.tensor(ti.TensorHandle(np.array([value.ptr], dtype=np.uint64), ty), ty)
        else:
            args[name] = tl.constexpr(value) if "constexpr" in str(notes.get(name, "")) else ti._implicit_cvt(value)
    patch = ti._patch_lang(case.fn.fn)
    try:
        body = case.fn.rewrite()
        builder.set_grid_dim(*case.grid)
        for z, y, x in np.ndindex(*case.grid[::-1]):
            builder.set_grid_idx(x, y, z)
            MEMORY.pid, MEMORY.epoch = (x, y, z), 0
            body(**args)
    finally:
        patch.restore()
    return conflict(MEMORY.events)


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    odd = failed = 0
    for case in CASES:
        if case.text or (names and case.name not in names):
            continue
        try:
            found = run(case)
        except Exception as error:
            failed += 1
            print(f"{case.name}: not run: {type(error).__name__}: {str(error)[:100]}")
            continue
        expected = set(case.expect.split()[0].split("|"))
        if expected <= {"ok", "races"} and ("races" if found else "ok") not in expected:
            odd += 1
            print(f"{case.name}: expected {case.expect}, found {found}")
    print(f"{len(CASES)} cases, {odd} to look at, {failed} not run")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
