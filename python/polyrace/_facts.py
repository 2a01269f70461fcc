"""Facts of one launch in the form of the launch file: scalars, tensors, descriptors, contents.

Contents are a snapshot of what the kernel can read as integers and does not write. Everything else has the reason
why there is none, which refusals quote. What the text reads and writes comes from the library's own dump of it.
"""
from __future__ import annotations

import base64
import ctypes
import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Callable

_INTEGER = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}
_TRITON_DTYPES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16", "int1": "bool"}
_INITIAL_VALUES = 1024  # elements of a tensor that atomics change: what they find first (interface.md 1.1)
_INLINE_VALUES = 64  # longer contents are written in base 64


@dataclass(frozen=True)
class Uses:
    """What a text does with each argument, by name. `unknown`: an access whose base is not known."""
    loaded: frozenset = frozenset()
    written: frozenset = frozenset()
    unknown: bool = True
    atomic: frozenset = frozenset()  # accessed by atomics: what they find first matters, although it does not stay

    def writes(self, name: str) -> bool:
        return self.unknown or self.names_write(name)

    def names_write(self, name: str) -> bool:
        return name in self.written or name.split(".")[0] in self.written

    def only_reads(self, name: str) -> bool:
        """Some access reads it, and none that writes names it: what it holds first is worth giving (a table of pointers, through which the
        kernel writes to tensors that are no arguments). That nothing writes it all the same is for the analysis to show."""
        return (name in self.loaded or name.split(".")[0] in self.loaded) and not self.names_write(name)

    def loads(self, name: str) -> bool:
        return self.unknown or name in self.loaded or name.split(".")[0] in self.loaded


_RECORD = re.compile(r"^\(record .*?\(kind ([a-z_]+)\).*?\(base (-?\d+)(?: \"([^\"]*)\")?")


def read_uses(dump: str) -> Uses:
    """Reads the dump of stage `access`."""
    loaded, written, atomic, unknown = set(), set(), set(), False
    for line in dump.splitlines():
        if not line.startswith("(record"):
            continue
        m = _RECORD.match(line)
        if m is None or int(m[2]) < 0 or m[3] is None:
            unknown = True
        else:
            if m[1] not in ("store", "atomic_store"):
                loaded.add(m[3])
            if m[1].startswith("atomic"):
                atomic.add(m[3])
            if m[1] not in ("load", "atomic_load", "atomic_poll"):
                written.add(m[3])
    return Uses(frozenset(loaded), frozenset(written), unknown, frozenset(atomic))


@dataclass
class Interval:
    """Bytes that an analysed but un-run launch may have written."""
    lo: int
    hi: int
    why: str


@dataclass
class Facts:
    """The arguments of one binding, and what they touch."""
    args: "dict[str, Any]" = field(default_factory=dict)
    notes: "list[str]" = field(default_factory=list)
    contents: bool = False
    scalars: bool = False
    writes: "list[tuple[Any, int, int]]" = field(default_factory=list)  # (storage object, lo, hi)
    named_writes: "list[tuple[int, int]]" = field(default_factory=list)  # those of arguments that a writing access names
    spans: "list[tuple[int, int]]" = field(default_factory=list)  # storages of all tensors
    read: "list[tuple[dict, int, int]]" = field(default_factory=list)  # tensors with contents

    def drop_overwritten(self) -> None:
        """An argument that aliases a written one has no contents that stay."""
        for out, lo, hi in self.read:
            if any(a < hi and lo < b for a, b in self.named_writes):
                out.pop("values", None)
                out.pop("values_b64", None)
                out["no_values"] = "written by the kernel"  # it is not what the kernel will find
        self.read = [r for r in self.read if "no_values" not in r[0]]


def dtype_name(dtype: Any) -> str:
    name = str(dtype)
    name = name.rsplit(".", 1)[-1]
    return _TRITON_DTYPES.get(name, name)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "dtype")


def _is_descriptor(value: Any) -> bool:
    return not _is_tensor(value) and all(hasattr(value, a) for a in ("base", "shape", "strides", "block_shape"))


def scalar(value: Any) -> Any:
    """A scalar as a JSON value, or None when it has none (it then stays symbolic)."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= 1 << 53 else str(int(value))  # exact for every reader of JSON
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    for read in ("__index__", "__float__"):
        f = getattr(value, read, None)
        if f is not None and not _is_tensor(value):
            try:
                return scalar(f())
            except Exception:
                return None
    return None


class Snapshot:
    """Contents of tensors for one launch, under its caps; several views of one storage are copied once."""

    def __init__(self, elements: int, total: int):
        self.elements, self.total, self.used = elements, total, 0
        self.copies: "dict[int, Any]" = {}

    def take(self, t: Any, numel: int, size: int, contiguous: bool) -> "tuple[bytes | None, str]":
        """Row-major bytes of a tensor, or the reason why not."""
        if numel == 0:
            return None, "empty"
        if numel > self.elements:
            return None, f"too large ({numel} elements, bound {self.elements})"
        if not contiguous:
            return None, "non-contiguous"
        storage = _storage(t)
        key = id(storage) if storage is not None else id(t)
        need = numel * size
        on_host = getattr(getattr(t, "device", None), "type", "cpu") == "cpu"
        if key not in self.copies:
            if self.used + need > self.total:
                return None, f"launch cap ({self.total} bytes)"
            self.used += need
            self.copies[key] = True
        try:
            if not on_host:
                t = t.detach().cpu()
            data = ctypes.string_at(t.data_ptr(), need)
        except Exception as e:
            return None, f"not readable ({type(e).__name__})"
        return data, ""


def _storage(t: Any) -> Any:
    f = getattr(t, "untyped_storage", None)
    if f is None:
        return None
    try:
        return f()
    except Exception:
        return None


def _signed(data: bytes, dtype: str) -> "list[int]":
    if dtype == "bool":
        return [int(b != 0) for b in data]
    size = int(dtype.lstrip("uint")) // 8
    return [int.from_bytes(data[k:k + size], "little", signed=not dtype.startswith("u"))
            for k in range(0, len(data), size)]


def read_tensor(name: str, value: Any, facts: Facts, uses: Uses, snap: "Snapshot | None",
                stale: "Callable[[int, int], str | None]", no_contents: "str | None" = None) -> "dict | None":
    """One tensor in the form of the launch file. None: nothing is known beyond its type."""
    t, dtype = value, getattr(value, "dtype", None)
    if not hasattr(value, "untyped_storage") and hasattr(value, "base"):
        t = value.base  # triton.reinterpret: the bytes of another tensor
    try:
        shape = [int(s) for s in t.shape]
    except Exception:
        facts.notes.append(f"argument {name}: {type(value).__name__} has no shape; its extent is unknown")
        return None
    out: "dict[str, Any]" = {"dtype": dtype_name(dtype)}
    try:
        strides = [int(s) for s in (t.stride() if callable(getattr(t, "stride", None)) else t.strides)]
    except Exception:
        strides = None
    try:
        size = int(t.element_size())
    except Exception:
        size = max(1, int("".join(c for c in dtype_name(dtype) if c.isdigit()) or 8) // 8)
    fake, ptr, storage = _address(t)
    extent = 0
    if all(shape):
        extent = size * (1 + sum((n - 1) * abs(s) for n, s in zip(shape, strides or _row_major(shape))))
    lo, hi = ptr, ptr + extent
    if storage is not None:
        try:
            bytes_ = int(storage.nbytes())
        except Exception:
            bytes_ = extent
        offset = _offset(t, ptr, storage, size)
        if fake:
            out["storage"] = {"id": f"s{id(storage)}", "offset": offset, "bytes": bytes_}
            lo = hi = 0
        else:
            lo, hi = ptr - offset, ptr - offset + bytes_
            out["ptr"] = ptr
            out["storage"] = {"ptr": lo, "bytes": bytes_}
    elif fake:
        out["storage"] = {"id": f"t{id(t)}", "offset": 0, "bytes": extent}
        lo = hi = 0
    else:
        out["ptr"] = ptr
    out["shape"] = shape
    if strides is not None:
        out["strides"] = strides
    if hi > lo:
        facts.spans.append((lo, hi))
    if uses.writes(name) and hi > lo:
        facts.writes.append((storage, lo, hi))
    if uses.names_write(name) and hi > lo:
        facts.named_writes.append((lo, hi))
    if uses.loads(name):
        data, why = _contents(name, t, out["dtype"], shape, strides, size, fake, lo, hi, uses, snap, stale, no_contents)
        if data is None:
            out["no_values"] = why
        else:
            facts.contents = True
            if not uses.names_write(name):
                facts.read.append((out, lo, hi))
            if len(data) <= _INLINE_VALUES * size:
                out["values"] = _signed(data, out["dtype"])
            else:
                out["values_b64"] = base64.b64encode(data).decode()
    return out


def _contents(name: str, t: Any, dtype: str, shape: "list[int]", strides: "list[int] | None", size: int, fake: bool,
              lo: int, hi: int, uses: Uses, snap: "Snapshot | None", stale: "Callable[[int, int], str | None]",
              no_contents: "str | None") -> "tuple[bytes | None, str]":
    if dtype not in _INTEGER:
        return None, f"float dtype {dtype}"
    numel = 1
    for n in shape:
        numel *= n
    if uses.writes(name) and not uses.only_reads(name) and (name not in uses.atomic or numel > _INITIAL_VALUES):
        return None, "written by the kernel"
    if fake:
        return None, "the tensor has no memory"
    if no_contents:
        return None, no_contents
    by = stale(lo, hi)
    if by:
        return None, by
    if snap is None:
        return None, "contents are switched off"
    dense = strides is None or strides == _row_major(shape) or all(
        n == 1 or s == r for n, s, r in zip(shape, strides, _row_major(shape)))
    return snap.take(t, numel, size, dense)


def _row_major(shape: "list[int]") -> "list[int]":
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= n
    return out[::-1]


def _address(t: Any) -> "tuple[bool, int, Any]":
    """(has no memory, address, storage object)."""
    storage = _storage(t)
    device = getattr(getattr(t, "device", None), "type", "")
    try:
        ptr = int(t.data_ptr())
    except Exception:
        return True, 0, storage
    if device == "meta" or (ptr == 0 and _numel(t) > 0):
        return True, 0, storage
    return False, ptr, storage


def _offset(t: Any, ptr: int, storage: Any, size: int) -> int:
    """Bytes from the start of the storage to the tensor's pointer. A wrapper may point anywhere into the storage of
    the tensor that it wraps and know no offset of its own."""
    if hasattr(t, "storage_offset"):
        return int(t.storage_offset()) * size
    try:
        return max(0, ptr - int(storage.data_ptr()))
    except Exception:
        return 0


def _numel(t: Any) -> int:
    n = 1
    for s in t.shape:
        n *= int(s)
    return n


def read_arguments(arguments: "list[tuple[str, Any, Any]]", uses: Uses, snap: "Snapshot | None",
                   stale: "Callable[[int, int], str | None]", reset: "set[str] | None" = None,
                   no_contents: "str | None" = None) -> Facts:
    """Facts of the arguments of one binding. `reset`: tensors that a pre-hook will overwrite before each run."""
    facts = Facts()
    for name, value, kind in arguments:
        why = no_contents or ("reset by a pre_hook" if reset and name.split(".")[0] in reset else None)
        if _is_tensor(value):
            body = read_tensor(name, value, facts, uses, snap, stale, why)
            facts.args[name] = None if body is None else {"tensor": body}
        elif _is_descriptor(value):
            body = read_tensor(name, value.base, facts, uses, snap, stale, why)
            if body is None:
                facts.args[name] = None
                continue
            facts.args[name] = {"descriptor": {
                "tensor": body, "shape": [int(s) for s in value.shape], "strides": [int(s) for s in value.strides],
                "block": [int(s) for s in value.block_shape], "padding": str(getattr(value, "padding", None) or "zero"),
                "round_f32_to_tf32": bool(getattr(value, "round_f32_to_tf32", False))}}
        else:
            facts.args[name] = scalar(value)
            facts.scalars = facts.scalars or not isinstance(value, float)
            if facts.args[name] is None and value is not None and not isinstance(value, float):
                facts.notes.append(f"argument {name}: a value of type {type(value).__name__} cannot be read; "
                                   "it stays unknown")
    for name, value, _ in arguments:
        if _is_tensor(value) and facts.args[name] is None:
            facts.args[name] = _inside_another(name, value, facts, uses)
    facts.drop_overwritten()
    return facts


def _inside_another(name: str, value: Any, facts: Facts, uses: Uses) -> "dict | None":
    """An argument that only knows its address: where that lies in another argument's storage, it is a view of that
    storage with an unknown extent, so all of the rest. None: nothing is known."""
    try:
        ptr = int(value.data_ptr())
        size = max(1, int("".join(c for c in dtype_name(value.dtype) if c.isdigit()) or 8) // 8)
    except Exception:
        return None
    for lo, hi in facts.spans:
        if lo <= ptr < hi and (hi - ptr) // size:
            if uses.writes(name):
                facts.writes.append((None, lo, hi))
            if uses.names_write(name):
                facts.named_writes.append((lo, hi))
            return {"tensor": {"dtype": dtype_name(value.dtype), "ptr": ptr, "shape": [(hi - ptr) // size], "strides": [1],
                               "storage": {"ptr": lo, "bytes": hi - lo},
                               **({"no_values": "a view without a shape"} if uses.loads(name) else {})}}
    return None


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
