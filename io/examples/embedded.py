"""An engine in this process: y = 2 + 3 x with noise of sd 0.1. Prints what it predicts at x = 2.5."""

import numpy as np

import windhover

random = np.random.default_rng(1)
x = 5 * random.random((1000, 1))
y = 2 + 3 * x[:, 0] + 0.1 * random.normal(size=1000)

with windhover.Engine(features=1, window_size=1000) as engine:
    engine.observe(x, y)
    engine.wait(ok=True)
    answer = engine.predict([[2.5]])
    lower, upper = answer.interval()
    print(
        f"y at 2.5: {answer.mean[0]:.2f}, "
        f"90 % of y within {lower[0]:.2f} .. {upper[0]:.2f} ({answer.status})"
    )
