#!/usr/bin/env python3
"""The usage example in the public header is the body of tests/api/example.c.

usage: check_example.py HEADER EXAMPLE
"""
import sys


def main():
    header, example = sys.argv[1:3]
    with open(header, encoding="utf-8") as f:
        lines = f.read().splitlines()
    start = next(i for i, l in enumerate(lines) if l.startswith(" * Example:"))
    end = next(i for i in range(start, len(lines)) if lines[i].strip() == "*/")
    told = [l[5:].rstrip() for l in lines[start + 2:end]]
    with open(example, encoding="utf-8") as f:
        lines = f.read().splitlines()
    start = next(i for i, l in enumerate(lines) if "begin example" in l)
    end = next(i for i, l in enumerate(lines) if "end example" in l)
    body = [l[4:].rstrip() for l in lines[start + 1:end]]
    if told != body:
        print("the header says:", *told, "the program has:", *body, sep="\n  ")
        return 1
    print(f"{len(body)} lines agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
