#!/usr/bin/env python3
"""Rebuild the texts from after Triton's Membar pass (needs Triton 3.9 or newer; no GPU): python build.py [NAME...]

The passes of the LLIR stage up to Membar, without the one that turns scf into branches between blocks. The inputs are the texts
of ../ttgir and ../stock. Releases before 3.9 insert barriers while they lower to LLVM: no TTGIR with them can be printed."""
import os
import sys

from triton._C.libtriton import ir, nvidia, passes

HERE = os.path.dirname(os.path.abspath(__file__))
PTX = 88
TEXTS = {"ring_cp": ("ttgir/ring_cp.ok", 80), "ring_store": ("ttgir/ring_store.ok", 90), "ring_readers": ("ttgir/ring_readers.ok", 90),
         "handoff_store": ("ttgir/handoff_store.ok", 90), "cp_arrive": ("ttgir/cp_arrive.ok", 90), "ring_single": ("ttgir/ring_single.ok", 90)}
TEXTS.update({name: ("stock/" + name, int(name.split(".sm")[1].split(".")[0])) for name in (
    "matmul.sm80.s1", "matmul.sm80.s3", "matmul.sm90.s3", "matmul_tma.sm90.s3", "attention.sm90.s3", "attention_ptr.sm80.s3",
    "matmul_ws.sm100.s3")})


def after_membar(path, capability):
    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    module = ir.parse_mlir_module(path, context)
    pm = ir.pass_manager(context)
    passes.ttgpuir.add_combine_tensor_select_and_if(pm)
    passes.ttgpuir.add_allocate_warp_groups(pm, False)
    passes.gluon.add_inliner(pm)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(pm, capability, PTX)
    nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(pm)
    nvidia.passes.ttnvgpuir.add_proxy_fence_insertion(pm, capability)
    nvidia.passes.ttnvgpuir.add_tmem_barrier_insertion(pm)
    nvidia.passes.ttgpuir.add_membar(pm, capability, PTX)
    pm.run(module, "membar")
    return module.str_nodebug()


def main():
    for name, (source, capability) in TEXTS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with open(os.path.join(HERE, "ttgir", name + ".ttgir"), "w", encoding="utf-8") as f:
            f.write(after_membar(os.path.join(HERE, "..", source + ".ttgir"), capability))


if __name__ == "__main__":
    main()
