def scale(value):
    return value * 0.5


def clean(text):
    return text.strip().upper().encode("ascii")


def load(count):
    texts = ["%d, " % i for i in range(count)]
    for text in texts:
        clean(text)
    return sorted((scale(i * 7919 % 1009) for i in range(count)), reverse=True)
