def scale(value):
    return norm(value) / 3.0


def norm(value):
    return sum([value * value for _ in range(3)]) ** 0.5
