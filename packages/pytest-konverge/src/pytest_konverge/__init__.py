"""An embedded Kubernetes cluster for tests: API server, built-in controllers, scheduler and simulated nodes in one process."""

from .cluster import Cluster, ClusterError, start

__all__ = ["Cluster", "ClusterError", "start"]
