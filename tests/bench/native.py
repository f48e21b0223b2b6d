"""Times of numpy or torch, one thread: native.py numpy|torch < shapes.json, with {task: {size: shape}}; JSON on stdout."""

import json
import sys
import time


def median_ms(run, budget=1.0):
    run()
    times = []
    end = time.perf_counter() + budget
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def tasks_of(np, softmax, random, stack, to_float):
    def angles(rows, width):
        return np.arange(rows)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)

    def table(T, D):
        def run():
            a = angles(T, D)
            return to_float(stack((np.sin(a), np.cos(a)), -1).reshape(T, D))

        return run

    def rope_cache(T, d):
        def run():
            a = angles(T, d)
            return to_float(np.cos(a)), to_float(np.sin(a))

        return run

    def attention(H, T, d):
        q, k, v = (random(H, T, d) for _ in range(3))

        def run():
            weights = softmax(q @ k.swapaxes(1, 2) * d**-0.5)
            return weights, weights @ v

        return run

    def similarity(T, D):
        x = random(T, D)
        return lambda: x @ x.swapaxes(0, 1)

    return {"table": table, "ropeCache": rope_cache, "attention": attention, "similarity": similarity}


def load(library):
    if library == "numpy":
        import numpy as np

        def softmax(x):
            e = np.exp(x - x.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True)

        draw = np.random.RandomState(0)
        random = lambda *shape: draw.randn(*shape).astype(np.float32)
        return np, tasks_of(np, softmax, random, np.stack, lambda x: x.astype(np.float32))
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    return torch, tasks_of(torch, lambda x: torch.softmax(x, -1), torch.randn, torch.stack, lambda x: x.float())


library = sys.argv[1]
module, tasks = load(library)
shapes = json.load(sys.stdin)
times = {
    task: {size: median_ms(tasks[task](**shape)) for size, shape in sizes.items()}
    for task, sizes in shapes.items()
    if task in tasks
}
print(json.dumps({"version": module.__version__, "times": times}))
