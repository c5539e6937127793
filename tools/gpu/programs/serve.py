"""An OpenAI-compatible server of a decoder with random weights, with vLLM's flags, probes and names of metrics.

It batches continuously: each step computes one token for every request that runs, and a request that waits takes the place of one
that has ended. The model's name says its size. On SIGTERM it accepts no more connections, answers what it has, and ends.
"""

import argparse
import json
import signal
import sys
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch.nn import functional as F

# Width, layers, heads, width of the feed-forward part, vocabulary.
SIZES = {"437m": (1280, 20, 20, 3456, 32000), "1m": (128, 4, 4, 352, 1000)}

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--model", required=True)
parser.add_argument("--served-model-name")
parser.add_argument("--tensor-parallel-size", type=int, default=1)
parser.add_argument("--max-model-len", type=int, default=1024)
parser.add_argument("--max-num-seqs", type=int, default=32)
parser.add_argument("--port", type=int, default=8000)


def arguments(given):
    """With the options of a file in place of --config, as vLLM reads it: one `name: value` on each line."""
    if "--config" not in given:
        return given
    at = given.index("--config")
    with open(given[at + 1]) as file:
        pairs = [line.split(":", 1) for line in file if ":" in line]
    options = [word for name, value in pairs for word in (f"--{name.strip()}", value.strip().strip("\"'"))]
    return options + given[:at] + given[at + 2 :]


options = parser.parse_args(arguments(sys.argv[1:]))
NAME = options.served_model_name or options.model
SIZE = options.model.rsplit("-", 1)[-1]
if SIZE not in SIZES:
    parser.error(f"--model {options.model}: its name must end with -437m or -1m")
if options.tensor_parallel_size != 1:
    parser.error("--tensor-parallel-size: this server uses one GPU")


class Decoder:
    """A decoder as Llama's: rotary positions, a gated feed-forward part, tied embeddings. Each request has a slot in the cache."""

    def __init__(self, size, slots, length):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        kind = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.width, self.layers, self.heads, hidden, self.vocabulary = size
        self.head = self.width // self.heads
        torch.manual_seed(0)
        make = lambda *shape: torch.randn(*shape, device=self.device, dtype=kind) * 0.02
        self.embedding = make(self.vocabulary, self.width)
        shapes = {"qkv": (3 * self.width, self.width), "out": (self.width, self.width)}
        shapes |= {"up": (2 * hidden, self.width), "down": (self.width, hidden)}
        self.weights = [{name: make(*shape) for name, shape in shapes.items()} for _ in range(self.layers)]
        self.cache = torch.zeros(self.layers, 2, slots, self.heads, length, self.head, device=self.device, dtype=kind)
        frequency = 10000 ** -(torch.arange(0, self.head, 2, device=self.device) / self.head)
        angle = torch.arange(length, device=self.device)[:, None] * frequency
        self.cos, self.sin = angle.cos().to(kind), angle.sin().to(kind)
        self.parameters = self.embedding.numel() + sum(w.numel() for one in self.weights for w in one.values())

    def norm(self, x):
        return F.rms_norm(x, (self.width,))

    def turned(self, x, places):
        cos, sin = self.cos[places][:, None], self.sin[places][:, None]
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack((first * cos - second * sin, first * sin + second * cos), -1).flatten(-2)

    @torch.inference_mode()
    def prefill(self, tokens, slot):
        """Takes in a prompt; returns the scores of the token that follows."""
        length = len(tokens)
        places = torch.arange(length, device=self.device)
        x = self.embedding[torch.tensor(tokens, device=self.device)]
        for layer, weights in enumerate(self.weights):
            q, k, v = self.parts(x, weights, places)
            self.cache[layer, 0, slot, :, :length] = k.transpose(0, 1)
            self.cache[layer, 1, slot, :, :length] = v.transpose(0, 1)
            mixed = F.scaled_dot_product_attention(*(one.transpose(0, 1)[None] for one in (q, k, v)), is_causal=True)
            x = self.rest(x, mixed[0].transpose(0, 1), weights)
        return self.norm(x[-1:]) @ self.embedding.T

    @torch.inference_mode()
    def step(self, tokens, slots, places):
        """One more token for each slot; returns the scores of those that follow."""
        longest = max(places) + 1
        slots = torch.tensor(slots, device=self.device)
        places = torch.tensor(places, device=self.device)
        x = self.embedding[torch.tensor(tokens, device=self.device)]
        mask = (torch.arange(longest, device=self.device) <= places[:, None])[:, None, None]
        for layer, weights in enumerate(self.weights):
            q, k, v = self.parts(x, weights, places)
            keys, values = self.cache[layer]
            keys[slots, :, places], values[slots, :, places] = k, v
            known = (one[slots, :, :longest] for one in (keys, values))
            mixed = F.scaled_dot_product_attention(q[:, :, None], *known, attn_mask=mask)
            x = self.rest(x, mixed[:, :, 0], weights)
        return self.norm(x) @ self.embedding.T

    def parts(self, x, weights, places):
        q, k, v = (self.norm(x) @ weights["qkv"].T).view(-1, 3, self.heads, self.head).unbind(1)
        return self.turned(q, places), self.turned(k, places), v

    def rest(self, x, mixed, weights):
        x = x + mixed.reshape(-1, self.width) @ weights["out"].T
        gate, up = (self.norm(x) @ weights["up"].T).chunk(2, -1)
        return x + (F.silu(gate) * up) @ weights["down"].T


class Histogram:
    BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0]

    def __init__(self):
        self.counts, self.sum, self.count = [0] * len(self.BOUNDS), 0.0, 0

    def observe(self, value):
        self.sum, self.count = self.sum + value, self.count + 1
        for i, bound in enumerate(self.BOUNDS):
            self.counts[i] += value <= bound

    def lines(self, name, label):
        buckets = [(bound, count) for bound, count in zip(self.BOUNDS, self.counts)] + [("+Inf", self.count)]
        lines = [f'{name}_bucket{{le="{bound}",{label}}} {count}' for bound, count in buckets]
        return lines + [f"{name}_sum{{{label}}} {self.sum}", f"{name}_count{{{label}}} {self.count}"]


class Request:
    def __init__(self, prompt, most, temperature):
        self.prompt, self.most, self.temperature = prompt, most, temperature
        self.arrived, self.begun, self.latest = time.monotonic(), 0.0, 0.0
        self.tokens, self.slot, self.error = [], -1, None
        self.changed = threading.Condition()
        self.done = False

    def add(self, token):
        with self.changed:
            self.tokens.append(token)
            self.done = len(self.tokens) >= self.most
            self.changed.notify_all()

    def fail(self, error):
        with self.changed:
            self.error, self.done = error, True
            self.changed.notify_all()

    def words(self):
        """The tokens as they come, in lists."""
        read = 0
        while True:
            with self.changed:
                self.changed.wait_for(lambda: len(self.tokens) > read or self.done)
                new, done, error = self.tokens[read:], self.done, self.error
            if error:
                raise RuntimeError(error)
            read += len(new)
            if new:
                yield new
            if done and read == len(self.tokens):
                return


class Engine(threading.Thread):
    TIMES = ["e2e_request_latency", "request_inference_time", "request_queue_time", "time_to_first_token", "inter_token_latency"]

    def __init__(self, model, slots):
        super().__init__(daemon=True)
        self.model, self.free = model, list(range(slots))
        self.waiting, self.running = deque(), []
        self.wake = threading.Condition()
        self.times = {name: Histogram() for name in self.TIMES}
        self.prompted = self.generated = self.answered = self.failed = self.steps = 0

    def submit(self, request):
        with self.wake:
            self.waiting.append(request)
            self.wake.notify()

    def run(self):
        while True:
            with self.wake:
                self.wake.wait_for(lambda: self.waiting or self.running)
            try:
                self.admit()
                if self.running:
                    self.advance()
            except Exception as error:
                # The requests that it happened to fail; others can go on.
                for request in self.running:
                    self.free.append(request.slot)
                    self.failed += 1
                    request.fail(str(error))
                self.running = []

    def admit(self):
        while self.free and self.waiting:
            request = self.waiting.popleft()
            request.begun = time.monotonic()
            request.slot = self.free.pop()
            self.running.append(request)
            self.times["request_queue_time"].observe(request.begun - request.arrived)
            self.prompted += len(request.prompt)
            self.took([request], self.model.prefill(request.prompt, request.slot))

    def advance(self):
        requests = list(self.running)
        self.steps += 1
        places = [len(one.prompt) + len(one.tokens) - 1 for one in requests]
        scores = self.model.step([one.tokens[-1] for one in requests], [one.slot for one in requests], places)
        self.took(requests, scores)

    def took(self, requests, scores):
        greedy = scores.argmax(-1)
        heat = torch.tensor([max(one.temperature, 1e-4) for one in requests], device=scores.device)[:, None]
        drawn = (scores.float() / heat).softmax(-1).multinomial(1)[:, 0]
        cold = torch.tensor([one.temperature == 0 for one in requests], device=scores.device)
        tokens = torch.where(cold, greedy, drawn).tolist()
        now = time.monotonic()
        for request, token in zip(requests, tokens):
            first = not request.tokens
            self.times["time_to_first_token" if first else "inter_token_latency"].observe(
                now - (request.arrived if first else request.latest)
            )
            request.latest = now
            self.generated += 1
            if len(request.tokens) + 1 >= request.most:
                self.finish(request, now)
            request.add(token)

    def finish(self, request, now):
        self.running.remove(request)
        self.free.append(request.slot)
        self.answered += 1
        self.times["e2e_request_latency"].observe(now - request.arrived)
        self.times["request_inference_time"].observe(now - request.begun)

    def metrics(self):
        label = f'model_name="{NAME}"'
        lines = [
            f"vllm:num_requests_running{{{label}}} {len(self.running)}",
            f"vllm:num_requests_waiting{{{label}}} {len(self.waiting)}",
            f"vllm:prompt_tokens_total{{{label}}} {self.prompted}",
            f"vllm:generation_tokens_total{{{label}}} {self.generated}",
            f'vllm:request_success_total{{finished_reason="length",{label}}} {self.answered}',
            f"konverge:steps_total{{{label}}} {self.steps}",
        ]
        for name, histogram in self.times.items():
            lines += histogram.lines(f"vllm:{name}_seconds", label)
        return "\n".join(lines) + "\n"


def text_of(tokens):
    """Tokens of random weights have no spelling: each is shown as a short word."""
    letters = "etaoinshrdlu"
    return "".join(" " + letters[one % 12] + letters[one // 12 % 12] + letters[one // 144 % 12] for one in tokens)


class Handler(BaseHTTPRequestHandler):
    def answer(self, body, kind="application/json", status=200):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, message, status):
        self.answer(json.dumps({"error": {"message": message, "code": status}}), status=status)

    def do_GET(self):
        if self.path == "/health":
            self.answer("")
        elif self.path == "/metrics":
            self.answer(engine.metrics(), "text/plain")
        elif self.path == "/v1/models":
            self.answer(json.dumps({"object": "list", "data": [{"id": NAME, "max_model_len": options.max_model_len}]}))
        else:
            self.refuse("not found", 404)

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_chat = self.path == "/v1/chat/completions"
        if not is_chat and self.path != "/v1/completions":
            return self.refuse("not found", 404)
        if given.get("model") != NAME:
            return self.refuse(f"The model {given.get('model')} does not exist.", 404)
        prompt = "".join(one["content"] for one in given["messages"]) if is_chat else given["prompt"]
        tokens = list(prompt.encode())[: options.max_model_len // 2] or [0]
        most = min(int(given.get("max_tokens") or 16), options.max_model_len - len(tokens))
        request = Request(tokens, most, float(given.get("temperature", 1)))
        engine.submit(request)
        try:
            (self.stream if given.get("stream") else self.whole)(request, is_chat)
        except RuntimeError as error:
            self.refuse(str(error), 500)

    def choice(self, text, is_chat, part, reason):
        message = {"role": "assistant", "content": text}
        shown = {"delta" if part else "message": message} if is_chat else {"text": text}
        return {"index": 0, **shown, "finish_reason": reason}

    def body(self, is_chat, part, choice, more={}):
        kind = ("chat.completion.chunk" if part else "chat.completion") if is_chat else "text_completion"
        return json.dumps({"id": "cmpl-1", "object": kind, "model": NAME, "choices": [choice], **more})

    def whole(self, request, is_chat):
        tokens = [token for new in request.words() for token in new]
        counts = {"prompt_tokens": len(request.prompt), "completion_tokens": len(tokens)}
        usage = {"usage": {**counts, "total_tokens": sum(counts.values())}}
        self.answer(self.body(is_chat, False, self.choice(text_of(tokens), is_chat, False, "length"), usage))

    def stream(self, request, is_chat):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for new in request.words():
            line = self.body(is_chat, True, self.choice(text_of(new), is_chat, True, None))
            self.wfile.write(f"data: {line}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 256


begun = time.monotonic()
model = Decoder(SIZES[SIZE], options.max_num_seqs, options.max_model_len)
model.step([1], [0], [0])
engine = Engine(model, options.max_num_seqs)
engine.start()
server = Server(("", options.port), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
seconds = time.monotonic() - begun
summary = {"parameters": model.parameters, "loadSeconds": round(seconds, 1), "device": str(model.device)}
print("@summary " + json.dumps(summary), flush=True)
server.serve_forever(poll_interval=0.05)
server.server_close()
