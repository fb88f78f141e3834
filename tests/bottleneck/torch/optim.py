class Optimizer:
    def __init__(self):
        self.count = 0

    def step(self):
        self.count += 1
        return "stepped"
