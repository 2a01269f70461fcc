"""lightllm: the Triton functions of a serving step (norms, activations, rotary embedding, attention over a paged cache)."""
import importlib

import torch

HALF = torch.float16
LLAMA = "lightllm.models.llama.triton_kernel."
COMMON = "lightllm.common.basemodel.triton_kernel."


def _half(*shape):
    return torch.randn(*shape, dtype=HALF)


def _int(*values):
    return torch.tensor(values, dtype=torch.int32)


def calls():
    batch, longest, heads, kv_heads, dim, slots = 3, 40, 8, 2, 64, 200
    lengths = _int(17, 40, 5)
    starts = _int(0, 17, 57)
    total = 62
    requests = _int(0, 2, 1)
    table = torch.randperm(slots)[: 4 * 48].reshape(4, 48).to(torch.int32)  # request, position -> cache slot
    ready = _int(0, 0, 0)

    def of(module, name, *args, **kwargs):
        def call():
            getattr(importlib.import_module(module), name)(*args, **kwargs)

        return module.rsplit(".", 1)[1] + "." + name, call

    for n, width in ((7, 256), (33, 1000)):
        yield of(LLAMA + "rmsnorm", "rmsnorm_forward", _half(n, width), _half(width), 1e-5)
        yield of("lightllm.models.bloom.triton_kernel.layernorm", "layernorm_forward", _half(n, width), _half(width), _half(width), 1e-5)
        yield of(LLAMA + "silu_and_mul", "silu_and_mul_fwd", _half(n, 2 * width))
        yield of("lightllm.models.gemma_2b.triton_kernel.gelu_and_mul", "gelu_and_mul_fwd", _half(n, 2 * width))
        yield of(COMMON + "multimodal_emb", "multimodal_emb", _half(n, 64), torch.randint(0, 90, (n,)), _half(90, 64), _half(30, 64), torch.tensor([4]), torch.tensor([1000]), torch.tensor([0]), 0, 90)
    cos, sin = _half(total, dim // 2), _half(total, dim // 2)
    yield of(LLAMA + "rotary_emb", "rotary_emb_fwd", _half(total, heads, dim), _half(total, kv_heads, dim), cos, sin)
    yield of(LLAMA + "rotary_emb", "rotary_emb_fwd", _half(total, heads, dim), _half(total, kv_heads, dim), cos, sin, 0.5)
    yield of("lightllm.models.chatglm2.triton_kernel.rotary_emb", "rotary_emb_fwd", _half(total, heads, dim), _half(total, kv_heads, dim), _half(total, dim // 4), _half(total, dim // 4))
    where = torch.randperm(slots)[:total].to(torch.int32)
    yield of(COMMON + "destindex_copy_kv", "destindex_copy_kv", _half(total, kv_heads, dim), where, _half(slots, kv_heads, dim))
    yield of(COMMON + "destindex_copy_kv", "destindex_copy_quantize_kv", _half(total, kv_heads, dim), where, torch.zeros(slots, kv_heads, dim, dtype=torch.int8), _half(slots, kv_heads, 1))
    yield of(LLAMA + "ppl_quant_copy_kv", "destindex_copy_quantize_kv", _half(total, kv_heads, dim), where, torch.zeros(slots, kv_heads, dim, dtype=torch.int8), _half(slots, kv_heads, dim // 8))
    yield of(COMMON + "copy_kv_index_to_req", "copy_kv_index_to_req", table, requests, lengths, _int(3, 90, 41))
    yield of(COMMON + "splitfuse_copy_kv_index_to_req", "splitfuse_copy_kv_index_to_req", table, requests, ready, lengths, where)
    # attention of prompts
    q, k, v, o = (_half(total, h, dim) for h in (heads, kv_heads, kv_heads, heads))
    pool_k, pool_v = _half(slots, kv_heads, dim), _half(slots, kv_heads, dim)
    full_k, full_v = _half(total, heads, dim), _half(total, heads, dim)
    yield of("lightllm.models.bloom.triton_kernel.context_flashattention_nopad", "context_attention_fwd", q, _half(slots, heads, dim), _half(slots, heads, dim), o, requests, torch.randn(heads), starts, lengths, ready, longest, table)
    yield of("lightllm.models.mistral.triton_kernel.context_flashattention_nopad", "context_attention_fwd", q, k, v, o, starts, lengths, longest, 16)
    split = (batch, table, requests, starts, ready, lengths, longest)
    eight_k, eight_v = pool_k.to(torch.int8), pool_v.to(torch.int8)
    yield of(LLAMA + "splitfuse_context_flashattention_nopad", "splitfuse_context_attention_fwd", q, pool_k, pool_v, o, *split)
    yield of(LLAMA + "splitfuse_context_flashattention_nopad", "splitfuse_context_attention_fwd_int8kv", q, eight_k, _half(slots, kv_heads, 8), eight_v, _half(slots, kv_heads, 8), o, *split)
    # attention of one new token
    one, out = _half(batch, heads, dim), _half(batch, heads, dim)
    scores = torch.randn(heads, total, dtype=torch.float32)
    common = (requests, starts, lengths)
    window = (_int(1, 24, 0), _int(0, 16, 32), _int(16, 16, 5))  # of the last 16 tokens
    yield of(LLAMA + "token_attention_nopad_att1", "token_att_fwd", one, pool_k, scores, table, *common, longest)
    yield of(LLAMA + "token_attention_nopad_att1", "token_att_fwd_int8k", one, pool_k.to(torch.int8), _half(slots, kv_heads, 1), scores, table, *common, longest)
    yield of(LLAMA + "token_attention_nopad_softmax", "token_softmax_fwd", scores, starts, lengths, scores.clone(), longest)
    yield of(LLAMA + "token_attention_nopad_reduceV", "token_att_fwd2", scores, pool_v, out, table, *common)
    yield of(LLAMA + "token_attention_nopad_reduceV", "token_att_fwd2_int8v", scores, pool_v.to(torch.int8), _half(slots, kv_heads, 1), out, table, *common, longest)
    yield of(LLAMA + "token_attention_softmax_and_reducev", "token_softmax_reducev_fwd", scores, pool_v, out, table, *common, 0)
    yield of("lightllm.models.bloom.triton_kernel.token_attention_nopad_att1", "token_att_fwd", one, _half(slots, heads, dim), scores, torch.randn(heads), table, *common, longest)
    yield of("lightllm.models.bloom.triton_kernel.token_attention_nopad_softmax", "token_softmax_fwd", scores, starts, lengths, scores.clone(), longest)
    yield of("lightllm.models.bloom.triton_kernel.token_attention_nopad_reduceV", "token_att_fwd2", scores, _half(slots, heads, dim), out, table, *common)
    yield of("lightllm.models.mistral.triton_kernel.token_attention_nopad_att1", "token_att_fwd", one, pool_k, scores, table, *common, *window, 16)
    yield of("lightllm.models.mistral.triton_kernel.token_attention_nopad_reduceV", "token_att_fwd2", scores, pool_v, out, table, *common, *window)
    yield of("lightllm.models.mistral.triton_kernel.token_attention_softmax_and_reducev", "token_softmax_reducev_fwd", scores, pool_v, out, table, *common, *window, 0)
    blocks = 2
    mid, mid_lse = torch.randn(batch, heads, blocks, dim), torch.randn(batch, heads, blocks)
    yield of(LLAMA + "flash_decoding_stage1", "flash_decode_stage1", one, _half(slots, heads, dim), _half(slots, heads, dim), table, requests, lengths, longest, mid, mid_lse, 32)
    yield of(LLAMA + "flash_decoding_stage2", "flash_decode_stage2", mid, mid_lse, lengths, out, 32)
    yield of(LLAMA + "gqa_flash_decoding_stage1", "flash_decode_stage1", _int(0, 1, 1, 2), _int(0, 0, 32, 0), one, pool_k, pool_v, table, requests, lengths, mid, mid_lse, 32)
    yield of(LLAMA + "gqa_flash_decoding_stage2", "flash_decode_stage2", mid, mid_lse, lengths, out, 32)
    yield of(LLAMA + "gqa_decode_flashattention_nopad", "gqa_decode_attention_fwd", one, pool_k, pool_v, out, table, requests, lengths)
    # quantised products
    for m, n, kk in ((5, 128, 256), (64, 256, 512)):
        x, w = _half(m, kk), _half(kk, n)
        yield of(COMMON + "dequantize_gemm_int8", "matmul_dequantize_int8", x, w.to(torch.int8), _half(n), out=_half(m, n))
        yield of(COMMON + "dequantize_gemm_int4", "matmul_dequantize_int4_s1", x, torch.zeros(kk // 8, n, dtype=torch.int32), _half(kk // 128, n), torch.zeros(kk // 128, n // 8, dtype=torch.int32), 128, _half(m, n))
        yield of(COMMON + "dequantize_gemm_int4", "matmul_dequantize_int4_gptq", x, torch.zeros(kk // 8, n, dtype=torch.int32), _half(kk // 128, n), torch.zeros(kk // 128, n // 8, dtype=torch.int32), 128, _half(m, n))
        yield of(COMMON + "quantize_gemm_int8", "quantize_int8_perrow", x)
        yield of(COMMON + "quantize_gemm_int8", "matmul_quantize_int8", x, w.to(torch.int8), _half(n, 1), _half(m, n))
