"""Asks an OpenAI-compatible server for completions and prints what came of it: a line for each request, and a summary.

With CLIENTS, that many ask without a pause for SECONDS; with RATE, new requests begin at that rate until the program is ended.
Each is for TOKENS tokens.
"""

import json
import os
import sys
import threading
import time
import urllib.request

URL, MODEL = os.environ["URL"], os.environ["MODEL"]
TOKENS, SECONDS = int(os.environ.get("TOKENS", "64")), float(os.environ.get("SECONDS", "15"))
CLIENTS, RATE = int(os.environ.get("CLIENTS", "0")), float(os.environ.get("RATE", "0"))
latencies, tokens, failed = [], 0, 0
lock = threading.Lock()


def ask():
    global tokens, failed
    body = json.dumps({"model": MODEL, "prompt": "Once upon a time", "max_tokens": TOKENS}).encode()
    request = urllib.request.Request(f"{URL}/completions", body, {"Content-Type": "application/json"})
    begun = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            count = json.load(response)["usage"]["completion_tokens"]
        outcome = "answered"
        with lock:
            latencies.append(time.monotonic() - begun)
            tokens += count
    except Exception as error:
        outcome = f"failed {error}"
        with lock:
            failed += 1
    sys.stdout.write(outcome + "\n")
    sys.stdout.flush()


def client(end):
    while time.monotonic() < end:
        ask()


if CLIENTS:
    begun = time.monotonic()
    threads = [threading.Thread(target=client, args=(begun + SECONDS,)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begun
    ordered = sorted(latencies)
    at = lambda part: round(ordered[int(part * (len(ordered) - 1))], 3) if ordered else None
    summary = {"requests": len(ordered), "failed": failed, "tokensPerSecond": round(tokens / seconds, 1)}
    print("@summary " + json.dumps({**summary, "p50": at(0.5), "p95": at(0.95)}), flush=True)
else:
    while True:
        threading.Thread(target=ask).start()
        time.sleep(1 / RATE)
