// The core's seeded normal numbers in Python, so that code copied from a figure draws the very vectors of its picture.

export const randomNormal = `def random_normal(count, seed, sigma):
    """SplitMix64 and Box-Muller, as the figure draws its numbers."""
    state, mask = seed, 2**64 - 1

    def uniform():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        return (((z ^ z >> 31) >> 11) + 1) * 2.0**-53

    return np.array([sigma * np.sqrt(-2 * np.log(uniform())) * np.cos(2 * np.pi * uniform())
                     for _ in range(count)])`;

/** The same numbers as an array of a shape; `sigma` is the parameter, with a default where one is wanted. */
export const randomNormalArray = (
  sigma: "sigma" | "sigma=1.0",
): string => `def random_normal(seed, shape, ${sigma}):
    """SplitMix64 and Box-Muller, as the figure draws them."""
    count = np.prod(shape)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, 2 * count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    uniform = (((z ^ z >> np.uint64(31)) >> np.uint64(11)) + np.uint64(1)) * 2.0**-53
    radius = np.sqrt(-2 * np.log(uniform[0::2]))
    return (sigma * radius * np.cos(2 * np.pi * uniform[1::2])).reshape(shape)`;

/** A number that Python takes for a float. */
export const float = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));
