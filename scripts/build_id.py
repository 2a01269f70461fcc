#!/usr/bin/env python3
"""build_id.h: a digest of the sources, part of the key of remembered answers. build_id.py SOURCE_DIR OUTPUT"""
import hashlib
import os
import sys

source, output = sys.argv[1:]
digest = hashlib.blake2b(digest_size=16)
for folder, folders, names in os.walk(source):
    folders.sort()
    for name in sorted(names):
        if name.endswith((".c", ".h", ".def")):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                body = f.read()
            digest.update(f"{os.path.relpath(path, source)}\n{len(body)}\n".encode() + body)
text = f'#define POLYRACE_BUILD_ID "{digest.hexdigest()}"\n'
try:
    with open(output, encoding="utf-8") as f:
        same = f.read() == text
except OSError:
    same = False
if not same:
    with open(output, "w", encoding="utf-8") as f:
        f.write(text)
