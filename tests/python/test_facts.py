"""Facts of arguments that are not torch tensors."""
from polyrace import _facts


class Storage:
    def data_ptr(self):
        return 4096

    def nbytes(self):
        return 1000


class Reversed:
    """A wrapper that points at the last element of a 250-element tensor, with negative strides (torch has no such views)."""
    shape, dtype, device = (5, 50), "torch.float32", None

    def stride(self):
        return (-50, -1)

    def element_size(self):
        return 4

    def data_ptr(self):
        return 4096 + 249 * 4

    def untyped_storage(self):
        return Storage()


def test_a_wrapper_points_into_the_storage_of_another_tensor():
    facts = _facts.Facts()
    spec = _facts.read_tensor("x", Reversed(), facts, _facts.Uses(), None, lambda lo, hi: None)
    assert spec["ptr"] == 4096 + 996 and spec["storage"] == {"ptr": 4096, "bytes": 1000}
    assert spec["shape"] == [5, 50] and spec["strides"] == [-50, -1]
