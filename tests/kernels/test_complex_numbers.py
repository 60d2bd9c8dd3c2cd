"""Functions of complex numbers, computed part by part."""

from __future__ import annotations

import numpy as np

import leafgrad as torch


def test_signs_of_complex_numbers() -> None:
    """Zero has none, and what is infinite none that is known; parts that are zero keep their sign."""
    inf, nan = np.inf, np.nan
    given = [0j, complex(-0.0, 0.0), 3 - 4j, complex(2, -0.0), complex(inf, 1), complex(2, -inf), complex(nan, 0)]
    expected = [0j, 0j, 0.6 - 0.8j, complex(1, -0.0), complex(nan, nan), complex(nan, nan), complex(nan, nan)]
    for kind in (torch.complex64, torch.complex128):
        x = torch.tensor(given, dtype=kind)
        for found in (x.sgn(), torch.stack([x, x], 1)[:, 1].sgn(), torch.stack([each.sgn() for each in x])):
            np.testing.assert_array_equal(found.numpy(), np.array(expected, found.numpy().dtype))
            assert np.signbit(found.numpy()[:4].imag).tolist() == [False, False, True, True]
