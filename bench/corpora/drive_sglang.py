"""sglang: its Triton operators where they import without a GPU (sglang.kernels.ops)."""
import importlib

import torch

HALF = torch.bfloat16
OPS = "sglang.kernels.ops."


def _half(*shape):
    return torch.randn(*shape, dtype=HALF)


def _int(*values, dtype=torch.int32):
    return torch.tensor(values, dtype=dtype)


def calls():
    def of(module, name, *args, **kwargs):
        def call():
            getattr(importlib.import_module(OPS + module), name)(*args, **kwargs)

        return module.rsplit(".", 1)[-1] + "." + name, call

    for n, width in ((7, 256), (33, 1024)):
        x = _half(n, width)
        yield of("activation.gelu_and_mul_triton", "gelu_and_mul_triton", _half(n, 2 * width))
        yield of("activation.softcap", "softcap_inplace_logits", x, 30.0)
        yield of("activation.softcap", "softcap_to_float32_logits", x, 30.0, torch.empty(n, width))
        yield of("activation.softcap", "cast_to_float32_logits", x, torch.empty(n, width))
        yield of("elementwise.elementwise", "fused_sigmoid_mul", _half(n, width), _half(n, width))
        yield of("elementwise.elementwise", "fused_sigmoid_mul", _half(n, width), _half(n, width), inplace=True)
        yield of("elementwise.elementwise", "sigmoid_gate_mul_broadcast", _half(n, width), _half(n, 1))
        yield of("elementwise.elementwise", "fused_gate_sigmoid_mul", x, _half(1, width), _half(n, width))
        yield of("elementwise.elementwise", "fused_gate_sigmoid_mul_add", x, _half(1, width), _half(n, width), _half(n, width))
        yield of("elementwise.row_scale", "row_scale_bf16", x, torch.rand(n, 1))
        yield of("elementwise.beam_fused", "fused_attention_gate", _half(n, 4 * 64), _half(n, 4), _half(4), 64)
        yield of("layernorm.fused_rmsnorm", "fused_dual_residual_rmsnorm", x, _half(n, width), _half(width), _half(width), 1e-6)
        yield of("layernorm.fused_rmsnorm", "fused_rmsnorm", x, _half(width), 1e-6)
        yield of("layernorm.fused_rmsnorm", "fused_rmsnorm", x, _half(width), 1e-6, inplace=True)
        yield of("layernorm.rmsnorm_fp32", "rmsnorm_fp32", torch.randn(n, width), torch.randn(width), 1e-6)
        yield of("layernorm.gemma4_fused_ops", "gemma_rmsnorm_residual_scalar", x, _half(width), _half(n, width), torch.rand(1))
        yield of("layernorm.gemma4_fused_ops", "gemma_qkv_rmsnorm", _half(n, 8 * 64), _half(n, 2 * 64), _half(n, 2 * 64), _half(64), _half(64), 8, 2, 64)
        yield of("layernorm.gemma4_fused_ops", "gemma_dual_rmsnorm_residual_scalar", x, _half(width), _half(n, width), _half(width), _half(width), _half(n, width), torch.rand(1))
        yield of("embeddings.vocab_parallel_embedding", "vocab_parallel_embedding", torch.randint(0, 500, (n,)), _half(256, width), 0, 250, 6, 500, 500)
        yield of("gemm.router_gemv", "router_gemv", x, _half(64, width))
        yield of("gemm.int8_kernel", "w8a8_block_int8_matmul", torch.zeros(n, width, dtype=torch.int8), torch.zeros(256, width, dtype=torch.int8), torch.rand(n, width // 128), torch.rand(2, width // 128), [128, 128])
        yield of("grammar.bitmask_ops", "apply_token_bitmask_inplace_triton", torch.randn(n, 1000), torch.zeros(n, 32, dtype=torch.int32))
        yield of("grammar.bitmask_ops", "apply_token_bitmask_inplace_triton", torch.randn(n, 1000), torch.zeros(n, 32, dtype=torch.int32), [0, 3, 5])
        yield of("grammar.token_filter_ops", "set_token_filter_triton", torch.zeros(n, 32, dtype=torch.int32), [1, 7, 500], 0)
        yield of("diffusion.norm.rmsnorm_onepass_triton", "triton_one_pass_rms_norm", x, _half(width))
        yield of("diffusion.norm.group_norm_silu_triton", "triton_group_norm_silu", _half(2, 32, n, 8), _half(32), _half(32), 8)
        yield of("diffusion.norm.rmsnorm_scale_shift_triton", "rmsnorm_scale_shift_per_token", _half(2, n, width), _half(width), _half(2, n, width), _half(2, n, width), 1e-6)
        yield of("diffusion.modulate.scale_shift_triton", "fuse_scale_shift_kernel", _half(2, n, width), _half(2, 1, width), _half(2, 1, width))
        yield of("diffusion.modulate.residual_gate_fp32", "residual_gate_fp32", _half(2, n, width), _half(2, n, width), torch.randn(2, 1, width))
        selects = [_half(2, width) for _ in range(6)]
        yield of("diffusion.modulate.scale_shift_triton", "fuse_layernorm_scale_shift_gate_select01_kernel", _half(2, n, width), None, None, *selects, torch.randint(0, 2, (2, n)), 1e-6)
        yield of("diffusion.rope.rotary_triton", "apply_rotary_embedding", _half(2, n, 4, 64), torch.randn(n, 32), torch.randn(n, 32))
        yield of("diffusion.rope.rotary_triton", "apply_rotary_embedding", _half(2, n, 4, 64), torch.randn(n, 32), torch.randn(n, 32), interleaved=True)
        yield of("diffusion.activation.silu_mul_bitexact", "fused_silu_mul_bitexact", x, _half(n, width))
        yield of("diffusion.activation.silu_mul_bitexact", "fused_packed_silu_mul_bitexact", _half(n, 2 * width))
        yield of("diffusion.activation.situ_softcap_mul_bitexact", "fused_situ_softcap_mul_bitexact", x, _half(n, width))
        yield of("diffusion.activation.sana_conv_post_triton", "fused_bias_silu", _half(2, 64, n, 8), _half(64))
        yield of("diffusion.activation.sana_conv_post_triton", "fused_bias_glu", _half(2, 64, n, 8), _half(64))
        qkv = [_half(2 * n, 4, 64) for _ in range(3)]
        some = torch.arange(0, 2 * n, 2)
        yield of("diffusion.layout.varlen_pack_pad_triton", "fused_pack_qkv", *[t.view(2, n, 4, 64) for t in qkv], some)
        yield of("diffusion.layout.varlen_pack_pad_triton", "fused_scatter_to_padded", _half(n, 4, 64), torch.arange(2 * n, dtype=torch.int32) // 2, 2, n)
        yield of("diffusion.layout.joint_qkv_cat_triton", "joint_qkv_cat", *[_half(2, n, 4, 64) for _ in range(6)])
        yield of("diffusion.layout.nearest_upsample_nhwc_triton", "nearest_upsample_nhwc", _half(2, 32, n, 8).to(memory_format=torch.channels_last), 2.0)
    # a step of serving: 3 requests, paged cache of 200 slots
    batch, heads, kv_heads, dim, slots = 3, 8, 2, 64, 200
    lengths = [17, 40, 5]
    total = sum(lengths)
    indptr = _int(0, 17, 57, 62)
    indices = torch.randperm(slots)[:total]
    pool_k, pool_v = _half(slots, kv_heads, dim), _half(slots, kv_heads, dim)
    one, out = _half(batch, heads, dim), _half(batch, heads, dim)
    logits, lse = torch.randn(batch, heads, 8, dim), torch.randn(batch, heads, 8)
    splits = _int(2, 4, 1)
    decode = (indptr, indices, logits, lse, splits, 8, 0.125)
    yield of("attention.decode_attention", "decode_attention_fwd", one, pool_k, pool_v, out, *decode, 1.0, 1.0)
    yield of("attention.decode_attention", "decode_attention_fwd", one[:, :2].contiguous(), pool_k, pool_v, out[:, :2].contiguous(), *decode, 1.0, 1.0)
    q, k, v, o = _half(total, heads, dim), _half(total, kv_heads, dim), _half(total, kv_heads, dim), _half(total, heads, dim)
    yield of("attention.prefill_attention", "context_attention_fwd", q, k, v, o, indptr[:3], _int(*lengths), 40)
    yield of("attention.extend_attention", "extend_attention_fwd", q, k, v, o, pool_k, pool_v, indptr, indptr, indices, None, True, None, 40, 1.0, 1.0)
    yield of("attention.extend_attention", "extend_attention_fwd_unified", q, o, pool_k, pool_v, 1.0, 1.0, indptr, indptr, indices, _int(0, 0, 0), 40)
    yield of("attention.extend_attention", "build_unified_kv_indices", indptr, indices, indptr[:3], _int(*lengths), torch.randperm(slots)[:total], 3)
    yield of("attention.merge_state", "merge_state_triton", _half(total, heads, dim), torch.randn(total, heads), _half(total, heads, dim), torch.randn(total, heads))
    yield of("attention.position", "compute_position_triton", _int(4, 0, 9), _int(*lengths), total)
    yield of("attention.pad", "pad_sequence_with_mask", _half(total, 64), _int(0, 17, 57), _int(*lengths), 40)
    yield of("attention.pad", "seqlens_expand_triton", _int(3, 4, 2), _int(*lengths), 9, 4)
    yield of("attention.pad", "pad_draft_extend_query", _half(9, heads, dim), _half(3, 4, heads, dim), _int(3, 4, 2), _int(0, 3, 7, 9))
    yield of("attention.pad", "unpad_draft_extend_output", _half(3, 4, heads, dim), _int(0, 3, 7, 9), _int(3, 4, 2), 9)
    cache = torch.randn(512, dim)
    yield of("attention.rotary_triton", "triton_mrope_fused", _half(total, heads * dim), _half(total, kv_heads * dim), cache, torch.randint(0, 512, (3, total)), [8, 12, 12], dim, dim, False, False, True, None)
    yield of("attention.rotary_triton", "triton_ernie45_rope_fused_inplace", _half(total, heads * dim), _half(total, kv_heads * dim), cache, torch.randint(0, 512, (3, total)), [12, 12, 8], dim, dim, True)
    yield of("attention.mla_qk_prep", "concat_and_cast_mha_k_triton", _half(total, heads, 192), _half(total, heads, 128), _half(total, 1, 64))
    slot = torch.randperm(slots)[:total]
    for name in ("set_mla_kv_buffer_triton", "get_mla_kv_buffer_triton"):
        yield of("kvcache.mla_buffer", name, _half(slots, 1, 576), slot, _half(total, 1, 512), _half(total, 1, 64))
    yield of("kvcache.cache_ops", "launch_reshape_and_cache_flash", k, v, _half(13, 16, kv_heads, dim), _half(13, 16, kv_heads, dim), slot)
    yield of("kvcache.copy_pages", "copy_pages", torch.zeros(20 * 4096, dtype=torch.uint8), _int(3, 5, dtype=torch.int64), _int(7, 8, dtype=torch.int64), 2, 4096)
    yield of("kvcache.zero_pages", "zero_pages", torch.zeros(20 * 4096, dtype=torch.uint8), _int(3, 5, dtype=torch.int64), 2, 4096)
    # linear attention
    t, h = 100, 4
    qkv = [_half(1, t, h, dim) for _ in range(3)]
    g = -torch.rand(1, t, h)
    beta = torch.rand(1, t, h).to(HALF)
    cu = _int(0, 30, t, dtype=torch.int64)
    state = torch.randn(2, h, dim, dim)
    fla = "attention.fla."
    yield of(fla + "cumsum", "chunk_local_cumsum", g, 64)
    yield of(fla + "cumsum", "chunk_local_cumsum", g, 64, cu_seqlens=cu)
    yield of(fla + "cumsum", "chunk_local_cumsum", -torch.rand(1, t, h, dim), 64)
    yield of(fla + "l2norm", "l2norm_fwd", qkv[0])
    yield of(fla + "chunk_fwd", "chunk_gated_delta_rule_fwd_intra", qkv[1], qkv[2], g, beta)
    yield of(fla + "chunk_fwd", "chunk_gated_delta_rule_fwd_intra", qkv[1], qkv[2], g, beta, cu_seqlens=cu)
    yield of(fla + "chunk_delta_h", "chunk_gated_delta_rule_fwd_h", qkv[1], _half(1, t, h, dim), qkv[2], g=g, initial_state=state, initial_state_indices=_int(0))
    yield of(fla + "chunk_delta_h", "chunk_gated_delta_rule_fwd_h", qkv[1], _half(1, t, h, dim), qkv[2], g=g, initial_state=state, initial_state_indices=_int(0, 1), cu_seqlens=cu)
    yield of(fla + "chunk_o", "chunk_fwd_o", *qkv, _half(1, 2, h, dim, dim), g=g)
    yield of(fla + "fused_recurrent", "fused_recurrent_gated_delta_rule", *qkv, g, beta=beta)
    yield of(fla + "fused_recurrent", "fused_recurrent_gated_delta_rule", *qkv, g, beta=beta, initial_state=state, output_final_state=True, cu_seqlens=cu)
    yield of(fla + "fused_recurrent", "fused_recurrent_gated_delta_rule_update", *qkv, g, beta=beta, initial_state_source=state, initial_state_indices=_int(0, 1), cu_seqlens=cu)
    yield of(fla + "kda", "fused_recurrent_kda", *qkv, -torch.rand(1, t, h, dim), beta=beta, initial_state=state[:1])
    yield of(fla + "kda", "chunk_kda", *qkv, -torch.rand(1, t, h, dim), beta, initial_state=state[:1], initial_state_indices=_int(0))
    yield of(fla + "kda", "rms_norm_gated", _half(t, dim), _half(t, dim), _half(dim), None)
    yield of(fla + "kda", "kda_gate_chunk_cumsum", _half(1, t, h, dim), torch.rand(h), 64)
    yield of("attention.linear.fused_gdn_gating", "fused_gdn_gating", torch.rand(h), _half(t, h), _half(t, h), torch.rand(h))
    yield of("attention.linear.lightning_attn", "lightning_attention", *[_half(2, h, 300, dim) for _ in range(3)], torch.rand(h))
    yield of("attention.linear.lightning_attn", "linear_decode_forward_triton", *[_half(batch, h, 1, dim) for _ in range(3)], torch.randn(6, h, dim, dim), torch.rand(h), _int(4, 0, 2))
    # state space models
    channels = 128
    yield of("mamba.causal_conv1d_triton", "causal_conv1d_fn", _half(channels, total), _half(channels, 4), _half(channels), _half(5, channels, 3), indptr, lengths, cache_indices=_int(4, 0, 2), has_initial_state=torch.tensor([False, True, False]))
    yield of("mamba.causal_conv1d_triton", "causal_conv1d_update", _half(batch, channels), _half(5, channels, 3), _half(channels, 4), _half(channels), "silu", conv_state_indices=_int(4, 0, 2))
    groups, dstate = 2, 16
    x, dt = _half(1, t, h, dim), _half(1, t, h)
    bc = [_half(1, t, groups, dstate) for _ in range(2)]
    ssm = "mamba.triton_ops."
    yield of(ssm + "mamba_ssm", "selective_state_update", torch.randn(6, h, dim, dstate), _half(batch, h, dim), _half(batch, h, dim), -torch.rand(h, dim, dstate), _half(batch, groups, dstate), _half(batch, groups, dstate), D=torch.rand(h, dim), dt_softplus=True, state_batch_indices=_int(4, 0, 2), out=_half(batch, h, dim))
    yield of(ssm + "ssd_combined", "mamba_chunk_scan_combined", x, dt, -torch.rand(h), *bc, 64, D=torch.rand(h), out=_half(1, t, h, dim))
    conv, states = _half(6, channels, 3), torch.randn(6, h, dim, dstate)
    yield of("mamba.mamba_state_scatter_triton", "track_mamba_states_if_needed", conv, states, _int(4, 0, 2), torch.tensor([True, False, True]), _int(1, 3, 5), 3)
