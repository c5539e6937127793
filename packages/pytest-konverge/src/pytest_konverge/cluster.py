"""Starts the konverge executable and ends it. Needs nothing but the standard library."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

EXECUTABLE_ENV = "KONVERGE_EXECUTABLE"


class ClusterError(Exception):
    """A cluster that does not start, with what it said."""


@dataclass
class Cluster:
    """A running cluster, and how an administrator reaches it."""

    host: str
    """The URL of the API server."""
    kubeconfig: Path
    """The administrator's kubeconfig: JSON, which is YAML as well."""
    _process: subprocess.Popen = field(repr=False)
    _folder: Path = field(repr=False)

    def stop(self) -> None:
        """Ends the cluster and returns when its process is gone."""
        _end(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(*args: str, executable: str | None = None, timeout: float = 60) -> Cluster:
    """Starts a cluster and returns when it is ready. `args` are options of `konverge up`.

    The cluster ends with `stop`, or with this process, however that ends.
    """
    program = executable or os.environ.get(EXECUTABLE_ENV) or shutil.which("konverge")
    if not program:
        raise ClusterError(f"no konverge in PATH: install the executable, or name it with ${EXECUTABLE_ENV}")
    folder = Path(tempfile.mkdtemp(prefix="konverge-pytest-"))
    kubeconfig = folder / "kubeconfig.json"
    log = folder / "log"
    command = [program, "up", "--kubeconfig", str(kubeconfig), "--until-stdin-closes", "--output", "json", *args]
    try:
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Noted in a folder that goes with it: it has nothing to do with clusters of the same name elsewhere.
                env={**os.environ, "KONVERGE_HOME": str(folder)},
            )
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ClusterError(f"{program} cannot be started: {error}") from error
    lines: queue.Queue[bytes] = queue.Queue()

    def read() -> None:
        lines.put(process.stdout.readline())
        # A full pipe would stop the cluster: its output is always read.
        while process.stdout.read(65536):
            pass

    threading.Thread(target=read, daemon=True).start()
    try:
        ready = json.loads(lines.get(timeout=timeout))
    except (queue.Empty, ValueError) as error:
        _end(process)
        said = log.read_text(errors="replace").strip()
        shutil.rmtree(folder, ignore_errors=True)
        why = f"it is not ready after {timeout} s" if isinstance(error, queue.Empty) else "it ended"
        raise ClusterError(f"the cluster does not start: {why}\n{said}") from error
    return Cluster(ready["url"], kubeconfig, process, folder)


def _end(process: subprocess.Popen) -> None:
    process.stdin.close()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
