"""fla-core: forward and backward of the functions of fla.ops, arguments made from the parameters' names.

Sequences of one length and packed sequences (`cu_seqlens`), gates with and without a head dimension.
"""
import inspect

import torch

B, T, H, D = 2, 100, 4, 64
ROWS = ("q", "k", "v", "r", "w", "a", "b", "kk", "x", "u_", "alpha", "do", "p", "s")


def _gate(*shape):
    return torch.nn.functional.logsigmoid(torch.randn(*shape)).requires_grad_()


def _argument(name, dtype, per_head):
    def real(*shape):
        return torch.randn(*shape, dtype=dtype).requires_grad_()

    if name in ROWS:
        return real(B, T, H, D)
    if name in ("g", "gk", "gv", "gate", "f"):
        return _gate(*((B, T, H) if per_head else (B, T, H, D)))
    if name in ("beta", "dt", "A", "g_gamma", "delta", "A_log"):
        return torch.rand(B, T, H).requires_grad_()
    if name == "u":
        return real(H, D)
    return None


def _call(function, dtype, per_head, packed):
    parameters = inspect.signature(function).parameters

    def call():
        kwargs = {}
        for p in parameters.values():
            needed = p.default is inspect.Parameter.empty
            value = _argument(p.name, dtype, per_head)
            if value is not None and (needed or p.name in ("g", "beta", "gk")):
                kwargs[p.name] = value
            elif p.name == "cu_seqlens" and packed:
                kwargs[p.name] = torch.tensor([0, 30, T])
            elif needed and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                kwargs[p.name] = 1 if "layer" in p.name or p.name == "scale" else None
        if packed:
            for name, value in kwargs.items():
                if isinstance(value, torch.Tensor) and value.dim() >= 3 and value.shape[0] == B:
                    kwargs[name] = value.detach()[:1].clone().requires_grad_()
        result = function(**kwargs)
        result = result[0] if isinstance(result, tuple) else result
        if result.requires_grad:
            result.backward(torch.ones_like(result))

    return call


def calls():
    import fla.ops as ops

    names = [n for n in dir(ops) if not n.startswith("_") and inspect.isfunction(getattr(ops, n))]
    for packed in (False, True):
        for per_head in (True, False):
            for name in names:
                function = getattr(ops, name)
                if packed and "cu_seqlens" not in inspect.signature(function).parameters:
                    continue
                yield "%s%s%s" % (name, " packed" if packed else "", " per head" if per_head else ""), _call(function, torch.bfloat16, per_head, packed)

    def modules():
        import fla.modules as m

        for name in ("RMSNorm", "LayerNorm", "GroupNorm", "RotaryEmbedding", "ShortConvolution", "FusedRMSNormGated", "FusedLayerNormGated", "FusedCrossEntropyLoss", "FusedKLDivLoss"):
            yield name, getattr(m, name, None)

    half = torch.bfloat16
    rows = {"RMSNorm": (64,), "LayerNorm": (64,), "FusedRMSNormGated": (64,), "FusedLayerNormGated": (64,), "GroupNorm": (4, 64)}
    for name, module in modules():
        if module is None:
            continue
        if name in rows:

            def call(module=module, name=name):
                norm = module(*rows[name]).to(half)
                x = torch.randn(2, 50, 64, dtype=half).requires_grad_()
                y = norm(x, torch.randn_like(x).requires_grad_()) if name.endswith("Gated") else norm(x)
                y.backward(torch.ones_like(y))

        elif name == "RotaryEmbedding":

            def call(module=module):
                q = torch.randn(2, 50, 4, 64, dtype=half).requires_grad_()
                y = module(64)(q, torch.randn_like(q))
                y[0].backward(torch.ones_like(y[0]))

        elif name == "ShortConvolution":

            def call(module=module):
                x = torch.randn(2, 50, 64, dtype=half).requires_grad_()
                y = module(64, 4, activation="silu").to(half)(x)
                y = y[0] if isinstance(y, tuple) else y
                y.backward(torch.ones_like(y))

        elif name == "FusedCrossEntropyLoss":

            def call(module=module):
                x = torch.randn(30, 1000, dtype=half).requires_grad_()
                module()(x, torch.randint(0, 1000, (30,))).backward()

        else:

            def call(module=module):
                x = torch.randn(30, 64, dtype=half).requires_grad_()
                y = module()(x, torch.randn_like(x), torch.randn(1000, 64, dtype=half), torch.randn(1000, 64, dtype=half))
                y.backward()

        yield name, call
