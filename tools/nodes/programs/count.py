"""Counts in a detached actor of a Ray cluster, and prints the count, and the host and process that keep it."""

import os
import socket

import ray

ray.init(address="auto", namespace="counts", log_to_driver=False)


@ray.remote(num_cpus=0.1)
class Counter:
    def __init__(self):
        self.count = 0

    def add(self):
        self.count += 1
        return self.count, socket.gethostname(), os.getpid()


counter = Counter.options(name="visits", lifetime="detached", get_if_exists=True).remote()
print("count", *ray.get(counter.add.remote(), timeout=60))
