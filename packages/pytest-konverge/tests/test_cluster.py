import json
import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from base64 import b64decode

import pytest
from pytest_konverge import ClusterError, start


@pytest.fixture(scope="session")
def konverge_args():
    return ["--nodes", "1", "--gpus", "none"]


def test_the_fixture_is_a_cluster_that_answers_its_administrator(konverge_cluster, tmp_path):
    config = json.loads(konverge_cluster.kubeconfig.read_text())
    user = config["users"][0]["user"]
    for name in ("client-certificate", "client-key"):
        (tmp_path / name).write_bytes(b64decode(user[f"{name}-data"]))
    authority = b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    context.load_cert_chain(tmp_path / "client-certificate", tmp_path / "client-key")
    with urllib.request.urlopen(f"{konverge_cluster.host}/api/v1/nodes", context=context) as response:
        assert len(json.load(response)["items"]) == 1


def test_a_cluster_that_does_not_start_says_why(monkeypatch):
    with pytest.raises(ClusterError, match="it must be a whole number"):
        start("--nodes", "many")
    monkeypatch.delenv("KONVERGE_EXECUTABLE", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError, match="no konverge in PATH"):
        start()
    with pytest.raises(ClusterError, match="cannot be started"):
        start(executable="/nowhere/konverge")


def test_a_cluster_ends_with_the_process_that_started_it(tmp_path):
    script = "import os, pytest_konverge; print(pytest_konverge.start().host, flush=True); os._exit(1)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, timeout=60)
    assert run.returncode == 1
    host, port = run.stdout.decode().strip().removeprefix("https://").split(":")
    deadline = time.monotonic() + 30
    with pytest.raises(ConnectionRefusedError):
        while time.monotonic() < deadline:
            socket.create_connection((host, int(port))).close()
            time.sleep(0.05)
