"""Numbers of 8, 16 and 32 bits wrap around as such, not as words under masks."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook import native

MASKS = {np.int8: "255", np.int16: "65535", np.int32: "4294967295"}


def least(a, b, c):
    """Sums, differences and products beyond the type, compared and shifted as NumPy has them."""
    out = np.minimum(a, np.add.outer(b, c))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = max(a[i, j] * b[i] - c[j], out[i, j]) >> 1
    return out, (b + c) // 2, (b - c) * b > 0, (a[0] + b) % 7


def arguments(dtype):
    limits, rng = np.iinfo(dtype), np.random.default_rng(3)
    ends = [limits.min, limits.min + 1, -1, 0, 1, limits.max - 1, limits.max]
    numbers = rng.integers(limits.min, limits.max, (12, 12), dtype, endpoint=True)
    numbers[0, :7], numbers[:7, 1], numbers[2, 5:] = ends, ends, ends
    return [numbers, numbers[:, 1].copy(), numbers[2].copy()]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", MASKS)
def test_numbers_are_numpys(dtype, tmp_path):
    compiled = native(least, strict=True)
    compiled.compile(*arguments(dtype), output_folder=tmp_path)
    (source,) = tmp_path.rglob("*.cpp")
    assert "short_word" in source.read_text()
    assert f"_in2 = {MASKS[dtype]};" not in source.read_text()
    expected, got = (args := arguments(dtype)), (own := arguments(dtype))
    for one, other in zip(compiled(*got), least(*expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    for one, other in zip(own, args, strict=True):
        np.testing.assert_array_equal(one, other)


def test_unsigned_numbers_keep_their_masks(tmp_path):
    """That bits are left out of a word is what clang sees by itself."""

    def added(a, b):
        return np.minimum(a, a + b)

    a = np.array([0, 1, 254, 255], np.uint8)
    compiled = native(added, strict=True)
    compiled.compile(a, a, output_folder=tmp_path)
    (source,) = tmp_path.rglob("*.cpp")
    assert "short_word" not in source.read_text()
    np.testing.assert_array_equal(compiled(a, a), added(a, a))
