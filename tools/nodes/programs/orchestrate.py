"""Stands in for Seldon's orchestrator, for graphs of one unit: the same flags, variable, paths and probes.

Like the original it accepts no more connections from the moment it gets SIGTERM, answers what it has, and ends.
"""

import argparse
import base64
import json
import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser(allow_abbrev=False)
for flag in ["sdep", "namespace", "predictor", "protocol"]:
    parser.add_argument(f"--{flag}", required=True)
for flag in ["http_port", "grpc_port", "log_work_buffer_size", "log_write_timeout_ms"]:
    parser.add_argument(f"--{flag}", type=int)
parser.add_argument("--transport", choices=["rest", "grpc"])
parser.add_argument("--server_type", choices=["rpc", "kafka"])
parser.add_argument("--prometheus_path")
parser.add_argument("--full_health_checks", choices=["true", "false"])
options = parser.parse_args()
graph = json.loads(base64.b64decode(os.environ["ENGINE_PREDICTOR"]))["graph"]
UNIT = (graph["endpoint"]["service_host"], graph["endpoint"]["service_port"])


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, data):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def forward(self, path, body=None):
        request = urllib.request.Request(f"http://{UNIT[0]}:{UNIT[1]}{path}", body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                self.answer(response.status, response.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.read())
        except OSError as error:
            self.answer(500, json.dumps({"status": {"info": str(error)}}).encode())

    def do_GET(self):
        if self.path == "/live":
            return self.answer(200, b"")
        if self.path != "/ready":
            return self.forward(self.path)
        try:
            socket.create_connection(UNIT, timeout=1).close()
            self.answer(200, b"")
        except OSError:
            self.answer(503, b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.forward("/predict" if options.protocol == "seldon" else self.path, body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128


server = Server(("", options.http_port), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
server.serve_forever(poll_interval=0.05)
server.server_close()
