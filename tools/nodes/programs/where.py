"""Runs a task on each node of a Ray cluster and prints the host that it ran on."""

import socket

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

ray.init(address="auto", log_to_driver=False)


@ray.remote(num_cpus=0)
def host():
    return socket.gethostname()


nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
tasks = [host.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote() for node in nodes]
print("ran on", *sorted(ray.get(tasks, timeout=60)))
