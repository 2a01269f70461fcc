"""What the measurements share: running the program, child resources, the machine, tables."""
import glob
import json
import os
import platform
import statistics
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TTIR = os.path.join(ROOT, "tests", "kernels", "ttir")


def launches(folder=TTIR, small=False):
    """The launch files of a folder, without (or with) the variants for brute force."""
    return [p for p in sorted(glob.glob(os.path.join(folder, "*.json"))) if small or not p.endswith(".small.json")]


def best(command, repeat=1):
    """Least wall time in seconds, and the last result."""
    least, done = None, None
    for _ in range(repeat):
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        spent = time.perf_counter() - began
        least = spent if least is None else min(least, spent)
    return least, done


def process(command, limit=120):
    """One process: processor seconds (user and system) and its output. (Sizes: bench_process.)"""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        timer = threading.Timer(limit, p.kill)
        timer.start()
        text = p.stdout.read()
        _, code, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(code)
        timer.cancel()
    return used.ru_utime + used.ru_stime, text


def check_command(binary, options, inputs):
    return [binary, "check", "--format=jsonl", "--jobs=1", "--stats", *options, *inputs]


def verdicts(binary, inputs, options=(), limit=None):
    """Input path -> verdict, all in one process; missing where the process did not get that far."""
    try:
        done = subprocess.run(check_command(binary, options, inputs), capture_output=True, text=True, timeout=limit)
        text = done.stdout
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    out = {}
    for line in text.splitlines():
        if line.startswith("{") and line.endswith("}"):
            v = json.loads(line)
            out[v["input"]] = v
    return out


def machine():
    cpu = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = next((x.split(":", 1)[1].strip() for x in f if x.startswith("model name")), "")
    except OSError:
        pass
    load = os.getloadavg() if hasattr(os, "getloadavg") else (0, 0, 0)
    return {"system": platform.platform(), "cpu": cpu, "cores": os.cpu_count(), "load": list(load), "python": platform.python_version()}


def versions(binary):
    """{'polyrace': …, 'isl': …, 'z3': …} as the program prints them."""
    done = subprocess.run([binary, "version"], capture_output=True, text=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def part(values, q):
    """The value below which q of the sorted values lie."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * q))] if values else None


def spread(values):
    return {"count": len(values), "median": statistics.median(values), "p99": part(values, 0.99), "max": max(values)} if values else {"count": 0}


def table(head, rows, left=1):
    """A Markdown table; the first `left` columns are words."""
    align = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(str(c) for c in row) + " |" for row in [head, align, *rows])


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1)
        f.write("\n")
