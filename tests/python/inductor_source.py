"""A kernel in the form that Inductor generates, for its compile workers. DEST makes it race or not."""

SOURCE = '''
import fakedevice
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
fakedevice.pretend()

@triton_heuristics.pointwise(
    size_hints={'x': 4096}, filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
                 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=108, cc=80, major=8,
                     regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32),
                 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'NAME', 'mutated_arg_names': [],
                   'no_x_dim': False, 'num_load': 1, 'num_reduction': 0, 'backend_hash': 'none',
                   'autotune_local_cache': False, 'autotune_pointwise': True, 'autotune_remote_cache': None,
                   'force_disable_caches': True, 'dynamic_scale_rblock': True, 'max_autotune': False,
                   'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16,
                   'store_cubin': False},
    min_elem_per_thread=0
)
@triton.jit
def NAME(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tl.store(out_ptr0 + (DEST), tmp0 * 2.0, xmask)
'''


def main(method):
    """Compiles two kernels in two workers; prints how many came back."""
    import torch  # noqa: F401
    import torch._inductor.config as config
    config.compile_threads, config.worker_start_method = 2, method
    from torch._inductor.async_compile import AsyncCompile
    AsyncCompile.process_pool()
    AsyncCompile.wait_pool_ready()  # until then torch compiles in the parent
    compiler = AsyncCompile()
    futures = [compiler.triton(f"triton_poi_fused_{k}", SOURCE.replace("NAME", f"triton_poi_fused_{k}")
                               .replace("DEST", dest)) for k, dest in enumerate(("x0", "x0 // 2"))]
    done = 0
    for f in futures:
        try:
            f.future.result() if hasattr(f, "future") else f.result()
            done += 1
        except Exception as e:
            print(type(e).__name__, e)
    print("compiled", done)


if __name__ == "__main__":
    import sys
    main(sys.argv[1])
