"""liger-kernel: forward and backward of the autograd functions of liger_kernel.ops."""
import torch


def calls():
    import liger_kernel.ops as ops

    def real(*shape, dtype=torch.float32):
        return torch.randn(*shape, dtype=dtype).requires_grad_()

    def classes(high, *shape):
        return torch.randint(0, high, shape)

    def apply(name, *args):
        function = getattr(ops, name, None)

        def call():
            result = function.apply(*args)
            for x in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(x, torch.Tensor) and x.requires_grad:
                    x.backward(torch.ones_like(x), retain_graph=True)
                    return

        return [(name, call)] if function is not None else []

    for dtype in (torch.float32, torch.bfloat16):

        def r(*shape):
            return real(*shape, dtype=dtype)

        for v, h, n in ((100, 64, 12), (1000, 128, 33), (32000, 256, 8)):
            yield from apply("LigerCrossEntropyFunction", r(n, v), classes(v, n), None, -100, 0.0, 0.1, "mean", None, False)
            yield from apply("LigerCrossEntropyFunction", r(n, v), classes(v, n), torch.rand(v), -100, 1e-4, 0.0, "mean", 30.0, True, True, True)
            yield from apply("LigerFusedLinearCrossEntropyFunction", r(n, h), r(v, h), classes(v, n), r(v))
            yield from apply("LigerJSDFunction", r(n, v), r(n, v), classes(v, n), 0.5, -100, None, None)
            yield from apply("LigerFusedLinearJSDFunction", r(n, h), r(v, h), r(n, h), r(v, h), classes(v, n), 0.5, -100, 1.0, None, None, None)
            yield from apply("LigerKLDivLossFunction", r(n, v), torch.rand(n, v), "batchmean", False, 1e-10)
            yield from apply("LigerKLDivLossFunction", r(n, v), torch.rand(n, v), "none", True, 1e-10)
            yield from apply("LigerFusedLinearKLDivFunction", r(n, h), r(v, h), torch.rand(n, v), None, "batchmean", -100, 1.0, 1e-10, None)
            yield from apply("LigerTVDLossFunction", r(n, v), torch.rand(n, v), classes(v, n), "batchmean", -100)
            yield from apply("LigerTVDLossFunction", r(n, v), torch.rand(n, v), None, "none", -100)
            yield from apply("LigerSoftmaxFunction", r(n, v))
            yield from apply("LigerSparsemaxFunction", r(n, v), -1)
            yield from apply("LigerFusedCETVDFunction", r(n, v), r(n, v), classes(v, n), -100)
        for b, s, h in ((2, 7, 64), (1, 33, 1000), (4, 16, 4096)):
            yield from apply("LigerRMSNormFunction", r(b, s, h), r(h), 1e-6, 0.0, "llama", True, None)
            yield from apply("LigerRMSNormFunction", r(b, s, h), r(h), 1e-6, 1.0, "gemma", False, True)
            yield from apply("LigerFusedAddRMSNormFunction", r(b, s, h), r(b, s, h), r(h), 1e-6, 0.0, "llama", False)
            yield from apply("LigerModulatedRMSNormFunction", r(b, s, h), r(h), r(b, h), r(b, h), 1e-6)
            yield from apply("LigerLayerNormFunction", r(b, s, h), r(h), r(h), 1e-6)
            yield from apply("LigerDyTFunction", r(b, s, h), r(1), r(h), r(h))
            yield from apply("LigerGELUMulFunction", r(b, s, h), r(b, s, h))
            yield from apply("LigerSiLUMulFunction", r(b, s, h), r(b, s, h))
            yield from apply("LigerReLUSquaredFunction", r(b, s, h))
            yield from apply("LigerPolyNormFunction", r(b, s, h), r(3), r(1), 1e-6, False)
            yield from apply("LigerFusedGateUpSiLUMulFunction", r(b, s, 2 * h), False)
            yield from apply("LigerMLPFunction", r(b, s, h), r(128, h), r(128, h), r(h, 128))
            yield from apply("LigerAttnResFunction", r(4, b, s, h), r(h), r(h), 1e-6)
        for n, c, groups, s in ((2, 8, 2, 16), (1, 32, 8, 100), (4, 3, 3, 5)):
            yield from apply("LigerGroupNormFunction", r(n, c, s), r(c), r(c), c, groups, 1e-5)
        for b, s, hq, hk, d in ((2, 5, 4, 2, 32), (1, 17, 8, 8, 64), (2, 16, 14, 2, 80)):
            q, k = r(b, hq, s, d), r(b, hk, s, d)
            cos, sin = torch.randn(1, s, d, dtype=dtype), torch.randn(1, s, d, dtype=dtype)
            yield from apply("LigerRopeFunction", q * 1, k * 1, cos, sin)
            moved = [(r(b, s, heads, d) * 1).transpose(1, 2) for heads in (hq, hk)]
            yield from apply("LigerRopeFunction", *moved, cos.expand(b, s, d).contiguous(), sin.expand(b, s, d).contiguous())
            three = torch.randn(3, b, s, d, dtype=dtype)
            yield from apply("LigerQwen2VLMRopeFunction", q * 1, k * 1, three, three * 1, [d // 8, d // 8 * 3 // 2, d // 8 * 3 // 2])
            yield from apply("LigerLlama4RopeFunction", r(b, s, hq, d) * 1, r(b, s, hk, d) * 1, torch.randn(s, d // 2, dtype=torch.complex64), None)
            yield from apply("LigerFusedNeighborhoodAttentionFunction", r(b, hq, s, d), r(b, hq, s, d), r(b, hq, s, d), 3, 1, None)
        for sparse in (False, True):
            yield from apply("LigerMultiTokenAttentionFunction", r(2, 4, 16, 16), r(4, 4, 3, 3), r(4), 1, 1, 1, 1, sparse)
        for t, experts, h, inner, top in ((10, 4, 64, 32, 2), (64, 8, 128, 64, 2)):
            chosen = torch.stack([torch.randperm(experts)[:top] for _ in range(t)]).int()
            yield from apply("LigerFusedMoEFunction", r(t, h), r(experts, 2 * inner, h), r(experts, h, inner), chosen, torch.rand(t, top, dtype=dtype))
    hc, c = 4, 64
    m = hc * hc + 2 * hc
    half = torch.bfloat16
    yield from apply("LigerMHCCoeffsFunction", real(2, 5, hc, c, dtype=half), real(hc * c, m, dtype=half), real(m), real(1).sum(), real(1).sum(), real(1).sum(), True, 5, 1e-6, 0.0, 1e-6, 2.0)
    yield from apply("LigerMHCPreFunction", real(2, 5, hc, c, dtype=half), real(2, 5, hc))
    yield from apply("LigerMHCPostResFunction", real(2, 5, hc, c, dtype=half), real(2, 5, c, dtype=half), real(2, 5, hc), real(2, 5, hc, hc))

    def grpo():
        from liger_kernel.ops.grpo_loss import GrpoLossFunction

        b, n, v = 3, 7, 500
        loss = GrpoLossFunction.apply(
            real(b, n + 1, v), torch.randn(b, n), torch.randn(b, n), classes(v, b, n), torch.randn(b), torch.ones(b, n), 0.9, 0.04, 0.2, 0.2, False
        )
        loss[0].backward(torch.ones_like(loss[0]))

    yield "GrpoLossFunction", grpo
