"""Every kernel of the corpus as a real launch on CPU tensors: the verdict is the one expected by hand (expect.txt) and,
field by field, that of the committed launch file. Group 2 of python.md 6."""
import importlib
import io
import os
import sys

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import polyrace                              # noqa: E402
from conftest import KERNELS, ROOT           # noqa: E402

CORPUS = os.path.join(ROOT, "tests", "kernels")
sys.path.insert(0, CORPUS)
import registry                              # noqa: E402

for file in registry.topic_files():
    importlib.import_module(file[:-3])
EXPECTED = registry.read_expectations()
REFERENCE = triton.__version__.startswith("3.8")


def torch_tensor(t, made):
    """A tensor of the registry on the CPU; None when torch cannot make it (negative strides)."""
    if any(s < 0 for s in t.strides):
        return None
    dtype = getattr(torch, registry.TORCH_NAME[t.dtype])
    if t.of is not None:
        host = made[t.of]
        flat = torch.empty(0, dtype=dtype).set_(host.untyped_storage())
        at = host.storage_offset() * host.element_size() // t.width + t.offset
        return torch.as_strided(flat, t.shape, t.strides, at)
    low, high = t.span()
    skip = t.align % 16 // t.width
    flat = torch.full(((high - low) // t.width + skip,), t.fill or 0, dtype=dtype)
    return torch.as_strided(flat, t.shape, t.strides, skip)


def arguments(entry):
    """Grid and arguments of the small launch, or None when torch cannot express it."""
    grid, given = entry["launch"](**entry["small"])
    made = {}
    for name, value in sorted(given.items(), key=lambda kv: isinstance(kv[1], registry.Tensor) and kv[1].of is not None):
        if not isinstance(value, registry.Tensor):
            made[name] = value
        elif value.of is not None and value.of not in made:
            return None
        else:
            made[name] = torch_tensor(value, made)
            if made[name] is None:
                return None
    names = [p.name for p in entry["fn"].params]
    return grid, {n: made[n] if n in made else entry["small"][n] for n in names}


def function(entry):
    """The kernel, with the arguments that the corpus compiles without specialisation."""
    nospec = entry["nospec"]
    if not nospec:
        return entry["fn"]
    names = [p.name for p in entry["fn"].params if not p.is_constexpr] if nospec is True else list(nospec)
    return triton.jit(do_not_specialize=names)(entry["fn"].fn)


def short(v):
    """What must not depend on how a launch was described."""
    def place(loc):
        return (os.path.basename(loc.file), loc.line) if loc else None
    return {"status": v.status, "rung": v.rung, "scope": v.scope, "qualifiers": sorted(v.qualifiers),
            "races": sorted((r.type, r.agents, place(r.first.loc), place(r.second.loc), r.first.tensor, r.first.element)
                            for r in v.races),
            # Contents that are switched off here are over a bound; in the launch file they are just missing.
            "refusals": sorted((r.kind.replace("snapshot-bound", "indirect-address"), place(r.loc) or ("", 0)) for r in v.refusals), "withheld": v.withheld,
            "grid_axes": v.grid_axes}


@pytest.mark.parametrize("entry", registry.REGISTRY, ids=lambda e: e["name"])
def test_corpus(entry):
    if not registry.in_release(entry, triton.__version__):
        pytest.skip("another release of Triton")
    made = arguments(entry)
    if made is None:
        pytest.skip("torch has no such tensor")
    grid, args = made
    out = io.StringIO()
    # Most of the corpus gives no contents; an element bound of 0 switches them off here too.
    given = any(isinstance(v, registry.Tensor) and v.fill is not None for v in entry["launch"](**entry["small"])[1].values())
    bound = {} if given else {"snapshot_elements": 0}
    with polyrace.trace(target=f"cuda:{entry['target']}", stream=out, **bound) as t:
        function(entry)[grid](**args, num_warps=entry["num_warps"])
    [launch] = t.launches
    want = EXPECTED[entry["name"]]
    assert launch.verdict.status == want.status
    if launch.verdict.status == "races":
        assert f"{launch.kernel}: " in out.getvalue() and "DATA RACE" in out.getvalue()
    elif launch.verdict.status == "unsupported":
        assert f"polyrace: not analysed: {launch.kernel} [" in out.getvalue()
    if REFERENCE:
        committed = polyrace.check(os.path.join(KERNELS, f"{entry['name']}.small.json"), **bound)
        assert short(launch.verdict) == short(committed)


def test_the_table_is_large_enough():
    usable = [e for e in registry.REGISTRY if arguments(e) is not None]
    assert len(usable) >= 200
    kinds = {EXPECTED[e["name"]].status for e in usable}
    assert kinds >= {"ok", "races", "unsupported"}
