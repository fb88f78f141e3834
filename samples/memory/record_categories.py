#!/usr/bin/env python3
"""Record the snapshot with categories: a real profile of a small training run on the CPU, through torch's own _profile_to_snapshot.

    record_categories.py FILE           needs torch; written with 2.15.0
"""
import pickle
import sys

import torch
from torch.cuda._memory_viz import _profile_to_snapshot


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(64, 128)
        self.out = torch.nn.Linear(128, 10)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def train(model, optimizer, steps):
    for _ in range(steps):
        inputs, labels = torch.randn(32, 64), torch.randint(10, (32,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True,
                                with_stack=True) as profile:
        train(model, optimizer, 2)
    with open(sys.argv[1], "wb") as out:
        pickle.dump(_profile_to_snapshot(profile), out)


if __name__ == "__main__":
    main()
