"""A server that speaks the part of OpenAI's API that clients of vLLM use, with vLLM's flags, probes and names of metrics.

It generates words at a fixed pace instead of a model's, for as many requests at once as vLLM would take; others wait. On
SIGTERM it behaves as vLLM's server does: it accepts no more connections, answers what it has, and ends.
"""

import argparse
import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--model", required=True)
parser.add_argument("--served-model-name")
parser.add_argument("--tensor-parallel-size", type=int, default=1)
parser.add_argument("--max-model-len", type=int, default=4096)
parser.add_argument("--max-num-seqs", type=int, default=256)
parser.add_argument("--port", type=int, default=8000)


def arguments():
    """The options of a file come first, so that those of the command line count."""
    config = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    config.add_argument("--config")
    found, others = config.parse_known_args()
    if not found.config:
        return others
    with open(found.config) as file:
        pairs = [line.strip().split(": ", 1) for line in file if line.strip()]
    return [part for name, value in pairs for part in (f"--{name}", value.strip("\"'"))] + others


options = parser.parse_args(arguments())
# A real server loads its model before it handles any signal.
time.sleep(float(os.environ.get("LOADING_SECONDS", "0")))
NAME = options.served_model_name or options.model
SECONDS_PER_TOKEN = 0.02
BUCKETS = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]

lock, slots = threading.Lock(), threading.Semaphore(options.max_num_seqs)
running, waiting, latencies, service_times = 0, 0, [], []


def metrics():
    label = f'model_name="{NAME}"'
    lines = [f"vllm:num_requests_running{{{label}}} {running}", f"vllm:num_requests_waiting{{{label}}} {waiting}"]
    lines.append(f'vllm:request_success_total{{finished_reason="length",{label}}} {len(latencies)}')
    for metric, measured in [("e2e_request_latency", latencies), ("request_inference_time", service_times)]:
        metric, durations = f"vllm:{metric}_seconds", list(measured)
        for bound in BUCKETS:
            count = sum(1 for one in durations if one <= bound)
            lines.append(f'{metric}_bucket{{le="{bound}",{label}}} {count}')
        lines.append(f'{metric}_bucket{{le="+Inf",{label}}} {len(durations)}')
        lines += [f"{metric}_sum{{{label}}} {sum(durations)}", f"{metric}_count{{{label}}} {len(durations)}"]
    return "\n".join(lines) + "\n"


class Handler(BaseHTTPRequestHandler):
    def answer(self, body, kind="application/json", status=200):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/health":
            self.answer("")
        elif self.path == "/metrics":
            self.answer(metrics(), "text/plain")
        elif self.path == "/v1/models":
            self.answer(json.dumps({"object": "list", "data": [{"id": NAME, "max_model_len": options.max_model_len}]}))
        else:
            self.answer("{}", status=404)

    def do_POST(self):
        global running, waiting
        begun = time.monotonic()
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/completions" or request.get("model") != NAME:
            return self.answer(json.dumps({"error": {"message": f"The model {request.get('model')} does not exist."}}), status=404)
        tokens = min(request.get("max_tokens", 16), options.max_model_len)
        with lock:
            waiting += 1
        with slots:
            with lock:
                waiting -= 1
                running += 1
            started = time.monotonic()
            time.sleep(tokens * SECONDS_PER_TOKEN)
            with lock:
                running -= 1
                service_times.append(time.monotonic() - started)
                latencies.append(time.monotonic() - begun)
        choice = {"index": 0, "text": " word" * tokens, "finish_reason": "length"}
        self.answer(json.dumps({"object": "text_completion", "model": NAME, "choices": [choice]}))

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128


server = Server(("", options.port), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
print(f"serves {NAME} with tensor parallel size {options.tensor_parallel_size}", flush=True)
server.serve_forever(poll_interval=0.05)
server.server_close()
