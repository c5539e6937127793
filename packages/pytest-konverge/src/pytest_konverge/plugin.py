"""The fixtures. Override `konverge_args` in a conftest.py to start the cluster with options of `konverge up`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .cluster import Cluster, start


@pytest.fixture(scope="session")
def konverge_args() -> list[str]:
    """Options of `konverge up` for the cluster of this session."""
    return []


@pytest.fixture(scope="session")
def konverge_cluster(konverge_args: list[str]) -> Iterator[Cluster]:
    """One embedded cluster for all tests of the session: use namespaces to keep them apart."""
    with start(*konverge_args) as cluster:
        yield cluster
