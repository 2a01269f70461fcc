#!/usr/bin/env python3
"""Bad inputs through the command line: run.py [path of polyrace].

Every case names what must happen: `3` exit status 3 with FILE:LINE:COL and a message on standard error,
`unsupported` a verdict that is not `ok` and not an internal error, `any` no crash, no hang, no exit 4.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import program                                      # noqa: E402

GOOD = """module {
  tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {
    %p = tt.get_program_id x : i32
    %c = arith.constant 8 : i32
    %o = arith.muli %p, %c : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %s = tt.splat %o : i32 -> tensor<8xi32>
    %i = arith.addi %s, %r : tensor<8xi32>
    %b = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %a = tt.addptr %b, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %a, %i : tensor<8x!tt.ptr<i32>>
    tt.return
  }
}
"""
TENSOR = '{"tensor": {"dtype": "int32", "ptr": 4096, "shape": [64], "strides": [1]}}'
LAUNCH = '{"version": 1, "kernel": "k", "ttir": "k.ttir", "grid": [4, 1, 1], "args": {"x": %s, "n": 5}}' % TENSOR


def body(lines):
    return "module {\n  tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {\n" + lines + "\n    tt.return\n  }\n}\n"


def changed(old, new):
    assert old in GOOD, old
    return GOOD.replace(old, new, 1)


def nested(n):
    return body("    %c = arith.constant true\n" + "scf.if %c {\n" * n + "}\n" * n)


def texts():
    """name -> (text, what must happen)"""
    return {
        "good": (GOOD, "ok"),
        "empty": ("", "3"),
        "blank": ("\n\n  \n", "3"),
        "garbage": ("\x00\x01\x02\xff", "3"),
        "only_comment": ("// nothing\n", "3"),
        "unclosed_module": (GOOD.rstrip()[:-1], "3"),
        "extra_brace": (GOOD + "}\n", "3"),
        "missing_operand": (changed("arith.addi %s, %r", "arith.addi %s"), "3"),
        "undefined_value": (changed("arith.addi %s, %r", "arith.addi %s, %zz"), "3"),
        "used_before": (changed("    %p = tt.get_program_id x : i32\n", "    %q = arith.addi %p, %p : i32\n    %p = tt.get_program_id x : i32\n"), "3"),
        "defined_twice": (changed("%c = arith.constant 8", "%p = arith.constant 8"), "3"),
        "wrong_type": (changed("arith.muli %p, %c : i32", "arith.muli %p, %c : i64"), "3"),
        "wrong_shape": (changed("arith.addi %s, %r : tensor<8xi32>", "arith.addi %s, %r : tensor<16xi32>"), "3"),
        "range_length": (changed("end = 8", "end = 9"), "3"),
        "splat_type": (changed("tt.splat %o : i32 -> tensor<8xi32>", "tt.splat %o : i32 -> tensor<8xi64>"), "3"),
        "addptr_shape": (changed("tt.addptr %b, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>", "tt.addptr %b, %o : tensor<8x!tt.ptr<i32>>, i32"), "3"),
        "store_value": (changed("tt.store %a, %i", "tt.store %a, %o"), "3"),
        "store_mask": (changed("tt.store %a, %i", "tt.store %a, %i, %i"), "3"),
        "store_no_pointer": (changed("tt.store %a, %i : tensor<8x!tt.ptr<i32>>", "tt.store %i, %i : tensor<8xi32>"), "3"),
        "bad_axis": (changed("get_program_id x", "get_program_id w"), "3|unsupported"),
        "huge_constant": (changed("constant 8 : i32", "constant 123456789012345678901234567890123456789012 : i32"), "3|unsupported"),
        "wide_constant": (changed("constant 8 : i32", "constant 4294967296 : i32"), "any"),
        "dense_count": (body("    %c = arith.constant dense<[1, 2, 3]> : tensor<8xi32>"), "3"),
        "negative_shape": (changed("tensor<8xi32>", "tensor<-8xi32>"), "3"),
        "zero_shape": (body("    %c = arith.constant dense<0> : tensor<0xi32>"), "any"),
        "huge_shape": (body("    %c = arith.constant dense<0> : tensor<9223372036854775807x9223372036854775807xi32>"), "any"),
        "rank_9": (body("    %c = arith.constant dense<0> : tensor<1x1x1x1x1x1x1x1x1xi32>"), "any"),
        "no_terminator": (changed("    tt.return\n", ""), "3"),
        "two_terminators": (changed("    tt.return\n", "    tt.return\n    tt.return\n"), "3"),
        "return_value": (changed("tt.return", "tt.return %o : i32"), "3"),
        "no_function": ("module {\n}\n", "3|unsupported"),
        "two_functions": (GOOD.replace("module {\n", "module {\n  tt.func public @other() {\n    tt.return\n  }\n"), "any"),
        "unknown_op": (changed("    tt.return\n", '    "evil.write"(%a) : (tensor<8x!tt.ptr<i32>>) -> ()\n    tt.return\n'), "unsupported"),
        "unknown_custom": (changed("    tt.return\n", "    evil.write %a : tensor<8x!tt.ptr<i32>>\n    tt.return\n"), "unsupported"),
        "unterminated_string": (changed("tt.return", 'tt.print "abc'), "3"),
        "unterminated_loc": (changed("tt.return", 'tt.return loc("a.py":3'), "3"),
        "loc_alias_missing": (changed("tt.return", "tt.return loc(#nowhere)"), "3"),
        "loc_alias_cycle": (changed("tt.return", "tt.return loc(#a)") + '#a = loc("x"(#b))\n#b = loc("y"(#a))\n', "3|any"),
        "bad_block": (body("    cf.br ^bb9"), "3"),
        "block_arguments": (body("    cf.br ^bb1(%n : i32)\n  ^bb1:"), "3"),
        "back_edge": (body("    cf.br ^bb1\n  ^bb1:\n    cf.br ^bb1\n  ^bb2:"), "unsupported|ok"),
        "for_types": (body("    %c = arith.constant 1 : i32\n    %d = arith.constant 1 : i64\n    scf.for %i = %c to %d step %c : i32 {\n    }"), "3"),
        "for_step_zero": (body("    %z = arith.constant 0 : i32\n    scf.for %i = %z to %n step %z : i32 {\n      tt.store %x, %i : !tt.ptr<i32>\n    }"), "unsupported"),
        "if_no_else": (body("    %c = arith.constant true\n    %r = scf.if %c -> (i32) {\n      scf.yield %n : i32\n    }"), "3"),
        "while_condition": (body("    scf.while : () -> () {\n      scf.condition(%n)\n    } do {\n      scf.yield\n    }"), "3"),
        "segments": (changed("    tt.return\n", '    %l = "tt.load"(%a) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>\n    tt.return\n'), "3"),
        "recursion": (GOOD.replace("    tt.return\n", "    tt.call @k(%x, %n) : (!tt.ptr<i32>, i32) -> ()\n    tt.return\n"), "unsupported"),
        "call_nothing": (changed("    tt.return\n", "    tt.call @gone() : () -> ()\n    tt.return\n"), "3|unsupported"),
        "nested_199": (nested(190), "any"),
        "nested_10000": (nested(10000), "3|unsupported"),
        "nested_100000": (nested(100000), "3|unsupported"),
        "brackets": (body("    " + "(" * 100000), "3"),
        "attributes": (body("    " + "{a = " * 50000), "3"),
        "types": (body("    %c = arith.constant dense<0> : " + "tensor<1x" * 20000), "3|unsupported"),
        "pointers": (changed("!tt.ptr<i32>, %n", "!tt.ptr<" * 5000 + "i32" + ">" * 5000 + ", %n"), "3|unsupported"),
        "chain_100000": (body("    %v0 = arith.addi %n, %n : i32\n" + "".join(f"    %v{i} = arith.addi %v{i - 1}, %n : i32\n" for i in range(1, 100000))
                              + "    %q = tt.addptr %x, %v99999 : !tt.ptr<i32>, i32\n    tt.store %q, %n : !tt.ptr<i32>"), "any"),
        "doubling_64": (body("    %v0 = arith.addi %n, %n : i32\n" + "".join(f"    %v{i} = arith.addi %v{i - 1}, %v{i - 1} : i32\n" for i in range(1, 64))
                             + "    %q = tt.addptr %x, %v63 : !tt.ptr<i32>, i32\n    tt.store %q, %n : !tt.ptr<i32>"), "any"),
        "products": (body("    %v0 = arith.addi %n, %n : i32\n" + "".join(f"    %v{i} = arith.muli %v{i - 1}, %v{i - 1} : i32\n" for i in range(1, 200))
                          + "    %q = tt.addptr %x, %v199 : !tt.ptr<i32>, i32\n    tt.store %q, %n : !tt.ptr<i32>"), "any"),
        "selects_300": (body("    %z = arith.constant 7 : i32\n    %v0 = arith.addi %n, %z : i32\n" + "".join(
            f"    %c{i} = arith.cmpi slt, %v{i - 1}, %z : i32\n    %v{i} = arith.select %c{i}, %v{i - 1}, %n : i32\n" for i in range(1, 300))
            + "    %q = tt.addptr %x, %v299 : !tt.ptr<i32>, i32\n    tt.store %q, %n : !tt.ptr<i32>"), "any"),
        "long_line": ("//" + "x" * 3000000 + "\n" + GOOD, "ok"),
        "crlf": (GOOD.replace("\n", "\r\n"), "ok"),
        "bom": ("\ufeff" + GOOD, "any"),
    }


def launches():
    big = "9" * 40
    t = TENSOR
    args = LAUNCH[:-1].split('"args": ', 1)[0]

    def with_args(a):
        return args + '"args": ' + a + "}"

    def tensor(**kw):
        base = {"dtype": '"int32"', "ptr": "4096", "shape": "[64]", "strides": "[1]"}
        base.update(kw)
        return with_args('{"x": {"tensor": {%s}}, "n": 5}' % ", ".join(f'"{k}": {v}' for k, v in base.items() if v is not None))
    return {
        "good": (LAUNCH, "ok"),
        "empty": ("", "3"),
        "null": ("null", "3"),
        "list": ("[]", "3"),
        "number": ("17", "3"),
        "string": ('"x"', "3"),
        "no_version": ("{}", "3"),
        "version_2": (LAUNCH.replace('"version": 1', '"version": 2'), "3"),
        "not_utf8": (LAUNCH.replace("k.ttir", "\udcff.ttir"), "3"),
        "trailing": (LAUNCH + " x", "3"),
        "duplicate_key": (LAUNCH[:-1] + ', "grid": [1, 1, 1]}', "any"),
        "missing_argument": (with_args('{"x": %s}' % t), "3"),
        "args_list_short": (with_args("[%s]" % t), "3"),
        "args_number": (with_args("3"), "3"),
        "scalar_for_pointer": (with_args('{"x": 5, "n": 5}'), "3|unsupported"),
        "tensor_for_scalar": (with_args('{"x": %s, "n": %s}' % (t, t)), "3|unsupported"),
        "string_scalar": (with_args('{"x": %s, "n": "five"}' % t), "3"),
        "huge_scalar": (with_args('{"x": %s, "n": %s}' % (t, big)), "3|any"),
        "float_scalar": (with_args('{"x": %s, "n": 1.5}' % t), "3|any"),
        "bool_scalar": (with_args('{"x": %s, "n": true}' % t), "any"),
        "null_scalar": (with_args('{"x": %s, "n": null}' % t), "any"),
        "null_tensor": (with_args('{"x": null, "n": 5}'), "any"),
        "grid_zero": (LAUNCH.replace("[4, 1, 1]", "[0, 1, 1]"), "3|any"),
        "grid_negative": (LAUNCH.replace("[4, 1, 1]", "[-4, 1, 1]"), "3"),
        "grid_float": (LAUNCH.replace("[4, 1, 1]", "[4.5, 1, 1]"), "3"),
        "grid_long": (LAUNCH.replace("[4, 1, 1]", "[4, 1, 1, 1]"), "3"),
        "grid_huge": (LAUNCH.replace("[4, 1, 1]", "[%s, 1, 1]" % big), "3"),
        "grid_text": (LAUNCH.replace("[4, 1, 1]", '"4"'), "3"),
        "grid_2_31": (LAUNCH.replace("[4, 1, 1]", "[2147483647, 65535, 65535]"), "any"),
        "no_grid": (LAUNCH.replace('"grid": [4, 1, 1], ', ""), "3|any"),
        "dtype_unknown": (tensor(dtype='"int33"'), "3|unsupported"),
        "dtype_other_width": (tensor(dtype='"int64"'), "unsupported|3"),
        "dtype_number": (tensor(dtype="32"), "3"),
        "shape_negative": (tensor(shape="[-1]"), "3"),
        "shape_text": (tensor(shape='["sixty"]'), "3"),
        "shape_missing": (tensor(shape=None), "3"),
        "shape_huge": (tensor(shape="[9223372036854775807, 9223372036854775807]", strides="[1, 1]"), "3|any"),
        "strides_length": (tensor(strides="[1, 1]"), "3"),
        "strides_huge": (tensor(strides="[9223372036854775807]"), "3|any"),
        "ptr_negative": (tensor(ptr="-1"), "3|any"),
        "ptr_huge": (tensor(ptr=big), "3"),
        "ptr_end": (tensor(ptr="18446744073709551600"), "3|any"),
        "storage_small": (tensor(storage='{"ptr": 4096, "bytes": 4}'), "3|any"),
        "storage_away": (tensor(storage='{"ptr": 9000000, "bytes": 256}'), "3|any"),
        "storage_text": (tensor(storage='"x"'), "3"),
        "values_short": (tensor(values="[1, 2]"), "3"),
        "values_text": (tensor(values='["a"]'), "3"),
        "values_range": (tensor(values="[%s]" % ", ".join(["99999999999"] * 64)), "3"),
        "values_file_missing": (tensor(values_file='"nowhere.bin"'), "3|any"),
        "ttir_missing": (LAUNCH.replace("k.ttir", "nowhere.ttir"), "3"),
        "ttir_number": (LAUNCH.replace('"k.ttir"', "5"), "3"),
        "ttir_directory": (LAUNCH.replace("k.ttir", "."), "3"),
        "kernel_other": (LAUNCH.replace('"kernel": "k"', '"kernel": "other"'), "3|unsupported"),
        "configs_empty": (LAUNCH[:-1] + ', "configs": []}', "3|unsupported"),
        "configs_text": (LAUNCH[:-1] + ', "configs": "x"}', "3"),
        "config_text": (LAUNCH[:-1] + ', "config": "x"}', "3"),
        "warps_zero": (LAUNCH[:-1] + ', "config": {"num_warps": 0}}', "3|any"),
        "warps_huge": (LAUNCH[:-1] + ', "config": {"num_warps": 1000000000}}', "3|any"),
        "launches_empty": ('{"version": 1, "launches": []}', "3"),
        "launches_mixed": ('{"version": 1, "launches": [%s, 5]}' % LAUNCH, "3"),
        "assume_text": (LAUNCH[:-1] + ', "assume": "n > 0"}', "3"),
        "assume_bad": (LAUNCH[:-1] + ', "assume": ["n >"]}', "3"),
        "assume_unknown": (LAUNCH[:-1] + ', "assume": ["zz > 0"]}', "3"),
        "assume_false": (LAUNCH[:-1] + ', "assume": ["n > 100"]}', "unsupported|vacuous"),
        "deep": ("[" * 200000, "3"),
        "deep_object": ('{"a":' * 100000 + "1" + "}" * 100000, "3"),
        "escape": (LAUNCH.replace('"kernel": "k"', '"kernel": "\\u0000\\ud800"'), "3"),
    }


def judge(name, want, done, path):
    wants, status = want.split("|"), done.returncode
    text = done.stderr.decode(errors="replace")
    if status < 0:
        return f"killed by signal {-status}"
    if status == 4 or "internal error" in text:
        return f"internal error: {text[-300:]}"
    if status == 3:
        if "3" not in wants and "any" not in wants:
            return f"rejected: {text[-300:]}"
        if not text.strip():
            return "exit 3 without a message"
        first = text.strip().splitlines()[0]
        if os.path.basename(path) not in text and ".ttir" not in text and "launch" not in text:
            return f"the message names no file: {first}"
        return None
    out = done.stdout.decode(errors="replace")
    got = [w for w in ("unsupported", "vacuous", "races", "ok") if f'"status":"{w}"' in out.replace('": "', '":"')]
    verdict = got[0] if got else "nothing"
    if "any" in wants or verdict in wants:
        return None
    return f"exit {status}, verdict {verdict}, expected {want}"


def main():
    binary, failures, count = program(), 0, 0
    with tempfile.TemporaryDirectory() as home:
        for group, cases in (("text", texts()), ("launch", launches())):
            for name, (content, want) in cases.items():
                where = os.path.join(home, f"{group}_{name}")
                os.mkdir(where)
                ttir, launch = os.path.join(where, "k.ttir"), os.path.join(where, "k.json")
                with open(ttir, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
                    f.write(content if group == "text" else GOOD)
                with open(launch, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
                    f.write(content if group == "launch" else LAUNCH)
                for inputs in ([launch],) if group == "launch" else ([launch], [ttir]):
                    count += 1
                    expected = want.replace("ok", "any") if inputs == [ttir] else want
                    command = [binary, "check", "--format=jsonl", "--jobs=1", "--t0-timeout=5000", "--t1-timeout=5000", *inputs]
                    try:
                        done = subprocess.run(command, capture_output=True, timeout=120)
                        wrong = judge(name, expected if inputs != [ttir] or want != "unsupported" else "unsupported|3|any", done, inputs[0])
                    except subprocess.TimeoutExpired:
                        wrong = "hangs"
                    if wrong:
                        failures += 1
                        print(f"FAIL {group} {name} ({os.path.basename(inputs[0])}): {wrong}")
        # one bad input does not lose the others
        good = os.path.join(home, "launch_good", "k.json")
        bad = os.path.join(home, "launch_empty", "k.json")
        done = subprocess.run([binary, "check", "--format=jsonl", bad, good], capture_output=True, timeout=60)
        if done.returncode != 3 or b'"ok"' not in done.stdout:
            failures += 1
            print(f"FAIL one bad input beside a good one: exit {done.returncode}, {done.stdout[:200]}")
    print(f"{count} bad inputs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
