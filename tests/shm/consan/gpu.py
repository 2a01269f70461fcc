#!/usr/bin/env python3
"""Run our Hopper kernels under the real ConSan, once each (a Hopper GPU, Triton 3.6, PyTorch):
    gpu.py all OUT.json [--jobs N] [--timeout S] [NAME...]     every kernel in a process of its own
    gpu.py one NAME                                            one kernel; how it ends is on standard error
A row records: ok (ended without a report), report (ConSan's message), hang (killed after the timeout), or error."""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
K = 8                                                # trip count of every launch


def load(path, name):
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("kernels", "pairs", "tensor", "pairs_tensor"):
        sys.modules.pop(name, None)
    return module


def table():
    """name -> (kernel, signature, constexprs)"""
    out = {}
    for name, (fn, sig, consts, capability) in load(os.path.join(HERE, "..", "build.py"), "shm_build").table().items():
        if capability <= 90:
            out[name] = fn, sig, consts
    for name, fn, sig, consts, capability in load(os.path.join(HERE, "build.py"), "consan_build").rows():
        if capability <= 90:
            out[name] = fn, sig, consts
    return out


def one(name):
    import torch
    import triton
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    fn, sig, consts = table()[name]
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    n, args = 64 * (K + 8), []
    for key, kind in sig.items():
        if kind.startswith("tensordesc"):
            args.append(TensorDescriptor.from_tensor(torch.randn(n, n, device="cuda", dtype=torch.float16), [64, 64], layout))
        elif kind.startswith("*"):
            args.append(torch.zeros(n * n, device="cuda", dtype=torch.float32 if kind == "*fp32" else torch.float16))
        elif kind == "fp32":
            args.append(0.5)
        else:
            args.append(64 * K if key == "N" else K)     # N counts elements
    fn[(1, )](*args, **consts, num_warps=4)
    torch.cuda.synchronize()
    print("ended", file=sys.stderr)


def outcome(name, seconds):
    env = {**os.environ, "TRITON_INSTRUMENTATION_MODE": "consan", "CUDA_LAUNCH_BLOCKING": "1",
           "TRITON_CACHE_DIR": os.path.join(os.environ.get("TMPDIR", "/tmp"), "consan-cache", name)}
    began = time.time()
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "one", name], capture_output=True, text=True, env=env,
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"name": name, "outcome": "hang", "seconds": round(time.time() - began, 1)}
    row = {"name": name, "seconds": round(time.time() - began, 1)}
    messages = re.findall(r"Assertion `([^`']*)'? ?failed", done.stderr) or re.findall(
        r"((?:Buffer being accessed|Accessing buffer|Deadlock detected|Barrier arrive underflow)[^`'\n]*)", done.stderr)
    if messages:
        row.update(outcome="report", message=sorted(set(m.strip() for m in messages)))
    elif "ended" in done.stderr and done.returncode == 0:
        row["outcome"] = "ok"
    else:
        row.update(outcome="error", stderr=done.stderr[-1500:], rc=done.returncode)
    return row


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("what", choices=["all", "one"])
    ap.add_argument("file")
    ap.add_argument("names", nargs="*")
    ap.add_argument("--jobs", type=int, default=8)
    ap.add_argument("--timeout", type=int, default=60)
    a = ap.parse_args()
    if a.what == "one":
        return one(a.file)
    import torch
    import triton
    names = [n for n in table() if not a.names or any(n.startswith(w) for w in a.names)]
    rows = []

    def save():
        with open(a.file, "w", encoding="utf-8") as f:
            json.dump({"device": torch.cuda.get_device_name(0), "triton": triton.__version__, "K": K,
                       "rows": sorted(rows, key=lambda r: names.index(r["name"]))}, f, indent=1)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(outcome, n, a.timeout) for n in names]):
            rows.append(done.result())
            print(rows[-1]["name"], rows[-1]["outcome"], rows[-1].get("message", ""), rows[-1]["seconds"], flush=True)
            save()


if __name__ == "__main__":
    sys.exit(main())
