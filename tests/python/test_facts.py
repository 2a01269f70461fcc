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


class Table(Reversed):
    dtype = "torch.int64"


def test_what_only_names_as_loaded_is_asked_for_its_contents():
    def why(**uses):
        return _facts.read_tensor("x", Table(), _facts.Facts(), _facts.Uses(**uses), None, lambda lo, hi: None).get("no_values")
    both = frozenset(["x"])
    assert why(loaded=both, unknown=True) == "contents are switched off", "an access elsewhere is not one of x"
    assert why(loaded=both, written=both, unknown=True) == "written by the kernel"
    assert why(unknown=True) == "written by the kernel", "nothing is known of the text"
