import enum
import os
import shutil


class ProfilerAction(enum.Enum):
    RECORD = 2


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 1


class profile:
    def __init__(self, activities, schedule):
        assert activities == [ProfilerActivity.CPU] and schedule(0) is ProfilerAction.RECORD
        self.said = []
        self.record_steps = True

    def start(self):
        self.said.append("start with steps" if self.record_steps else "start")

    def step(self):
        self.said.append("step")

    def stop(self):
        self.said.append("stop")

    def export_chrome_trace(self, path):
        shutil.copy(os.environ["FAKE_TRACE"], path)
        with open(os.environ["FAKE_LOG"], "w") as file:
            file.write(" ".join(self.said))
