// The core's seeded normal numbers in Python, so that code copied from a figure draws the very vectors of its picture.

export const randomNormalPython = `def random_normal(count, seed, sigma):
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
