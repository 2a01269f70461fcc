"""torchao: quantisation and quantised products of torchao.kernel and torchao.prototype."""
import importlib

import torch

HALF = torch.bfloat16
PROTOTYPE = "torchao.prototype."


def _half(*shape):
    return torch.randn(*shape, dtype=HALF)


def _fp8(*shape):
    return torch.randn(*shape).to(torch.float8_e4m3fn)


def calls():
    def of(module, name, *args, **kwargs):
        def call():
            getattr(importlib.import_module(module), name)(*[a() if callable(a) else a for a in args], **kwargs)

        return name, call

    kernel = "torchao.kernel.blockwise_quantization"
    for m, n in ((128, 256), (256, 512)):
        yield of(kernel, "fp8_blockwise_act_quant", _half(m, n))
        yield of(kernel, "fp8_blockwise_weight_quant", _half(m, n))
        yield of(kernel, "fp8_blockwise_weight_dequant", _fp8(m, n), torch.rand(m // 128, n // 128))
        yield of(kernel, "blockwise_fp8_gemm", _fp8(m, n), torch.rand(m, n // 128), _fp8(n, n), torch.rand(n // 128, n // 128))
        yield of("torchao.kernel.intmm_triton", "int_matmul_cuda", torch.zeros(m, n, dtype=torch.int8), torch.zeros(n, 128, dtype=torch.int8))
        yield of("torchao.kernel.intmm_triton", "int_scaled_matmul_cuda", torch.zeros(m, n, dtype=torch.int8), torch.zeros(n, 128, dtype=torch.int8), torch.rand(m, 1))
        train = PROTOTYPE + "blockwise_fp8_training.kernels"
        for name in ("act_quant_lhs", "act_quant_rhs", "act_quant_transposed_lhs", "weight_quant_rhs", "weight_quant_transposed_rhs"):
            yield of(train, "triton_fp8_blockwise_" + name, _half(m, n))
        column = _fp8(128, n).t()  # the right operand is column major
        yield of(train, "triton_fp8_gemm_1x128_128x128", _fp8(m, n), column, torch.rand(n // 128, m).t(), torch.rand(1, n // 128).t())
        yield of(train, "triton_fp8_gemm_1x128_128x1", _fp8(m, n), column, torch.rand(n // 128, m).t(), torch.rand(n // 128, 128))
        grouped = PROTOTYPE + "blockwise_fp8_training."
        weights = _half(4, m, n)
        yield of(grouped + "grouped_kernels", "triton_fp8_blockwise_weight_quant_grouped_transposed_rhs", weights.transpose(-2, -1))
        yield of(grouped + "grouped_kernels", "triton_fp8_blockwise_weight_quant_grouped_rhs", weights.transpose(-2, -1))
        yield of(grouped + "deepgemm_quant", "triton_fp8_blockwise_weight_quant_grouped_transposed_rhs_deepgemm", weights.transpose(-2, -1))
        yield of(grouped + "deepgemm_quant", "triton_fp8_blockwise_weight_quant_grouped_rhs_deepgemm", weights.transpose(-2, -1))
        ends = torch.tensor([m // 2, m], dtype=torch.int32)
        yield of(grouped + "deepgemm_quant", "triton_fp8_blockwise_act_quant_k_grouped_deepgemm", _half(m, n), torch.tensor([128, m], dtype=torch.int32))
        moe = PROTOTYPE + "moe_training.kernels."
        for name in ("triton_fp8_rowwise_3d_transpose_rhs", "triton_fp8_rowwise_3d_transpose_rhs_fused_reduction", "triton_fp8_colwise_3d_scale_and_cast"):
            yield of(moe + "float8_rowwise", name, _half(2, m, n).transpose(-2, -1).contiguous().transpose(-2, -1))
            yield of(moe + "float8_rowwise", name, _half(2, m, n))
        yield of(moe + "float8_rowwise", "triton_fp8_rowwise_2d_scale_and_cast", _half(m, n))
        yield of(moe + "jagged_float8_scales", "triton_fp8_per_group_rowwise_scales", _half(m, n), ends)
        yield of(moe + "jagged_float8_scales", "triton_fp8_per_group_colwise_scales", _half(m, n), ends)
        yield of(moe + "jagged_float8_scales", "triton_fp8_per_group_colwise_scales_dual", _half(m, n), _half(m, n), ends)
        scales = torch.zeros(m, n // 32, dtype=torch.uint8).view(torch.float8_e8m0fnu)
        yield of(moe + "mxfp8.quant", "triton_mx_block_rearrange_2d_M_groups", scales, ends)
        yield of(moe + "mxfp8.quant", "triton_mx_block_rearrange_2d_K_groups", scales, torch.tensor([4, n // 32], dtype=torch.int32))
        yield of(moe + "mxfp8.quant", "triton_mx_block_rearrange_per_group_3d", torch.zeros(2, m, n // 32, dtype=torch.uint8).view(torch.float8_e8m0fnu))
        mx = PROTOTYPE + "mx_formats.kernels"
        yield of(mx, "triton_to_mxfp8_dim0", _half(m, n))
        yield of(mx, "triton_to_mxfp8_dim1", _half(m, n))
        yield of(mx, "triton_mxfp8_dequant_dim0", _fp8(m, n), scales, HALF)
        yield of(mx, "triton_mx_block_rearrange", scales)
        yield of(PROTOTYPE + "quantized_training.int8_mm", "scaled_int8_mm_cuda", torch.zeros(m, n, dtype=torch.int8), torch.zeros(n, 128, dtype=torch.int8), torch.rand(m), torch.rand(128))
        nv = PROTOTYPE + "moe_training.nvfp4_training."
        signs = [1, -1] * 8
        yield of(nv + "hadamard_amax_triton", "triton_rht_amax", _half(m, n), signs)
        yield of(nv + "hadamard_quantize_row_col_triton", "triton_rht_quantize_row_col", _half(m, n), torch.rand(1), torch.rand(1), signs)
        yield of(nv + "quantize_2d_triton", "triton_weight_quantize_2d", _half(m, n), torch.rand(1))

        def product(m=m, n=n, dtype=HALF):
            from torchao.prototype.common.triton.matmul import matmul

            matmul(torch.randn(m, n, dtype=dtype), torch.randn(n, 128, dtype=dtype))

        yield "matmul", product

        def mixed(m=m, n=n, transposed=False):
            from torchao.prototype.hqq.mixed_mm import triton_mixed_mm

            triton_mixed_mm(
                _half(m, n), torch.zeros(n // 2, 128, dtype=torch.uint8), torch.rand(n // 64, 128).to(HALF), torch.rand(n // 64, 128).to(HALF),
                transposed=transposed, group_size=64, fp8_fast_accum=False, kernel_type="compute_bound",
            )

        yield "triton_mixed_mm", mixed
    attention = PROTOTYPE + "attention.quantization."
    for b, h, s, d in ((1, 4, 100, 64), (2, 8, 256, 128)):
        q, k, v = _half(b, h, s, d), _half(b, h, s, d), _half(b, h, s, d)
        cos, sin = torch.rand(s, d), torch.rand(s, d)
        yield of(attention + "triton_hadamard_qkv_quantization", "triton_fp8_hadamard_sdpa_quantize", q, k, v)
        yield of(attention + "triton_hadamard_utils", "inverse_hadamard_transform", q)
        yield of(attention + "triton_qkv_quantization", "triton_fp8_sdpa_quantize", q, k, v)
        moved = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
        for interleaved in (False, True):
            yield of(attention + "triton_rope_qkv_quantization", "triton_fp8_rope_sdpa_quantize", *moved, cos, sin, rope_interleaved=interleaved)
            yield of(attention + "triton_hadamard_rope_qkv_quantization", "triton_fp8_hadamard_rope_sdpa_quantize", *moved, cos, sin, rope_interleaved=interleaved)
        inference = PROTOTYPE + "fp8_sdpa_inference.fp8_sdpa_quantization"
        yield of(inference, "qkv_quantize_func", q, k, v)
        yield of(inference, "q_quantize_func", q)
        yield of(inference, "kv_quantize_func", k, v)

    def dynamic(name, algorithm):
        def call():
            from torchao.float8.float8_training_tensor import LinearMMConfig

            m = importlib.import_module(PROTOTYPE + "float8nocompile.kernels.fp8_dynamic_tensorwise")
            getattr(m, name)(_half(128, 256), torch.float8_e4m3fn, LinearMMConfig(), algo=getattr(m.KernelAlgorithm, algorithm))

        return name + " " + algorithm, call

    for name in ("row_major", "row_major_t", "col_major", "col_major_t", "row_and_col_major", "row_major_t_and_non_t", "col_major_t_and_non_t"):
        for algorithm in ("ATOMIC_MAX", "REDUCTION"):
            yield dynamic("hp_to_fp8_" + name, algorithm)

    def permute():
        from torchao.prototype.moe_training.ep.permute import permute_and_pad

        permute_and_pad(_half(64, 128), torch.tensor([10, 20, 14, 20], dtype=torch.int32), 1, 4, 16)

    yield "permute_and_pad", permute
    yield of(PROTOTYPE + "moe_training.ep.kernels", "fill_indices_wrapper", torch.tensor([10, 20, 14, 20], dtype=torch.int32), torch.tensor([0, 10, 30, 44], dtype=torch.int32), torch.tensor([0, 16, 48, 64], dtype=torch.int32), 4, 1, 128)

    def sparse(m=64, n=256, block=32):
        from torchao.kernel.bsr_triton_ops import bsr_dense_addmm

        weight = torch.randn(128, n, dtype=HALF) * (torch.rand(128 // block, 1, n // block, 1) > 0.5).expand(-1, block, -1, block).reshape(128, n)
        bsr_dense_addmm(torch.randn(128, m, dtype=HALF), weight.to_sparse_bsr(block), torch.randn(n, m, dtype=HALF))

    yield "bsr_dense_addmm", sparse
