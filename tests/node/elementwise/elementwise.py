"""One-dimensional arrays of doubles with the few operations that the printed snippets use.

They stand in for numpy and torch, so that a snippet can be run wherever Python is.
"""


class Array(list):
    dtype = None

    def _with(self, other, operation):
        others = other if isinstance(other, list) else [other] * len(self)
        assert len(others) == len(self)
        return Array(operation(a, b) for a, b in zip(self, others))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __rpow__(self, base):
        return Array(base**value for value in self)

    def __lt__(self, other):
        return self._with(other, lambda a, b: float(a < b))


float32, float64 = "float32", "float64"


def arange(count, dtype=None):
    return Array(float(i) for i in range(count))


def clip(values, low, high):
    return Array(min(max(value, low), high) for value in values)


clamp = clip


def array(values):
    return Array(values)


def tensor(values, dtype=None):
    return Array(values)
