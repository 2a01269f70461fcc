#!/usr/bin/env python3
"""Exported symbols of the shared library = functions declared POLYRACE_API in the public header.

usage: check_symbols.py HEADER LIBRARY
"""
import re
import subprocess
import sys


def main():
    header, library = sys.argv[1:3]
    with open(header, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    declared = set(re.findall(r"POLYRACE_API[^;]*?\b(polyrace_\w+)\s*\(", text))
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}
    exported -= {"_init", "_fini", "_edata", "_end", "__bss_start"}
    for name in sorted(declared - exported):
        print(f"declared, not exported: {name}")
    for name in sorted(exported - declared):
        print(f"exported, not declared: {name}")
    print(f"{len(declared)} functions")
    return 0 if declared and declared == exported else 1


if __name__ == "__main__":
    sys.exit(main())
