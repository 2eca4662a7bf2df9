"""PolyBench/C 4.2.1 ``deriche``: Deriche's recursive edge filter over a W x H grey-scale image.

PolyBench's own default type for this kernel is float; here it is double, as for all the others.
"""

import numpy as np

PARAMETERS = {
    "MINI": {"W": 64, "H": 64},
    "SMALL": {"W": 192, "H": 128},
    "MEDIUM": {"W": 720, "H": 480},
    "LARGE": {"W": 4096, "H": 2160},
    "EXTRALARGE": {"W": 7680, "H": 4320},
}


def initialize(W, H):
    return {
        "alpha": 0.25,
        "imgIn": np.fromfunction(
            lambda i, j: ((313 * i + 991 * j) % 65536) / 65535.0, (W, H), dtype=np.int64
        ),
        "imgOut": np.zeros((W, H)),
        "y1": np.zeros((W, H)),
        "y2": np.zeros((W, H)),
    }


def kernel(alpha, imgIn, imgOut, y1, y2):
    k = (
        (1.0 - np.exp(-alpha))
        * (1.0 - np.exp(-alpha))
        / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    )
    a1 = k
    a5 = k
    a2 = k * np.exp(-alpha) * (alpha - 1.0)
    a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = k * np.exp(-alpha) * (alpha + 1.0)
    a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = -k * np.exp(-2.0 * alpha)
    a8 = -k * np.exp(-2.0 * alpha)
    b1 = np.power(2.0, -alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = 1.0
    c2 = 1.0
    # A literal 0.0 before a loop is what docc 0.8 reads in all of its iterations.
    zero = alpha - alpha

    for i in range(imgIn.shape[0]):
        ym1 = zero
        ym2 = zero
        xm1 = zero
        for j in range(imgIn.shape[1]):
            y1[i, j] = a1 * imgIn[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = imgIn[i, j]
            ym2 = ym1
            ym1 = y1[i, j]

    for i in range(imgIn.shape[0]):
        yp1 = zero
        yp2 = zero
        xp1 = zero
        xp2 = zero
        for j in range(imgIn.shape[1] - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = imgIn[i, j]
            yp2 = yp1
            yp1 = y2[i, j]

    for i in range(imgIn.shape[0]):
        for j in range(imgIn.shape[1]):
            imgOut[i, j] = c1 * (y1[i, j] + y2[i, j])

    for j in range(imgIn.shape[1]):
        tm1 = zero
        ym1 = zero
        ym2 = zero
        for i in range(imgIn.shape[0]):
            y1[i, j] = a5 * imgOut[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = imgOut[i, j]
            ym2 = ym1
            ym1 = y1[i, j]

    for j in range(imgIn.shape[1]):
        tp1 = zero
        tp2 = zero
        yp1 = zero
        yp2 = zero
        for i in range(imgIn.shape[0] - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = imgOut[i, j]
            yp2 = yp1
            yp1 = y2[i, j]

    for i in range(imgIn.shape[0]):
        for j in range(imgIn.shape[1]):
            imgOut[i, j] = c2 * (y1[i, j] + y2[i, j])


def reference(alpha, imgIn, imgOut, y1, y2):
    from scipy.signal import lfilter

    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - np.exp(2.0 * alpha))
    causal = [k, k * decay * (alpha - 1.0)]
    anticausal = [0.0, k * decay * (alpha + 1.0), -k * decay**2]
    poles = [1.0, -(2.0**-alpha), decay**2]
    image = imgIn
    for axis in (1, 0):
        y1[:] = lfilter(causal, poles, image, axis=axis)
        y2[:] = np.flip(lfilter(anticausal, poles, np.flip(image, axis), axis=axis), axis)
        imgOut[:] = y1 + y2
        image = imgOut
