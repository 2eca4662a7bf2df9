"""Heat on a plate: a 9-point stencil with unequal weights, there and back in each time step."""

import numpy as np

PARAMETERS = {
    "S": {"STEPS": 20, "HEIGHT": 120, "WIDTH": 150},
    "M": {"STEPS": 50, "HEIGHT": 400, "WIDTH": 500},
    "L": {"STEPS": 100, "HEIGHT": 1000, "WIDTH": 1200},
}


def initialize(HEIGHT, WIDTH):
    numbers = np.random.default_rng(13)
    plate = numbers.random((HEIGHT, WIDTH))
    return {"plate": plate, "other": plate.copy()}


def kernel(STEPS, plate, other):
    height = plate.shape[0]
    width = plate.shape[1]
    for _step in range(STEPS):
        for y in range(1, height - 1):
            for x in range(1, width - 1):
                other[y, x] = (
                    0.4 * plate[y, x]
                    + 0.11 * (plate[y, x - 1] + plate[y, x + 1])
                    + 0.09 * (plate[y - 1, x] + plate[y + 1, x])
                    + 0.05 * (plate[y - 1, x - 1] + plate[y - 1, x + 1])
                    + 0.05 * (plate[y + 1, x - 1] + plate[y + 1, x + 1])
                )
        for y in range(1, height - 1):
            for x in range(1, width - 1):
                plate[y, x] = (
                    0.4 * other[y, x]
                    + 0.11 * (other[y, x - 1] + other[y, x + 1])
                    + 0.09 * (other[y - 1, x] + other[y + 1, x])
                    + 0.05 * (other[y - 1, x - 1] + other[y - 1, x + 1])
                    + 0.05 * (other[y + 1, x - 1] + other[y + 1, x + 1])
                )


def reference(STEPS, plate, other):
    weights = np.array([[0.05, 0.09, 0.05], [0.11, 0.4, 0.11], [0.05, 0.09, 0.05]])
    for _ in range(STEPS):
        for source, target in ((plate, other), (other, plate)):
            windows = np.lib.stride_tricks.sliding_window_view(source, (3, 3))
            target[1:-1, 1:-1] = np.einsum("yxij,ij->yx", windows, weights)
