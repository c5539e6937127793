"""Asks an OpenAI-compatible server for completions, with new connections, and prints the outcome of each request.

It asks RATE times per second, for TOKENS tokens each.
"""

import json
import os
import sys
import threading
import time
import urllib.request

URL, MODEL = os.environ["URL"], os.environ["MODEL"]
RATE, TOKENS = float(os.environ.get("RATE", "20")), int(os.environ.get("TOKENS", "10"))


def tell(outcome):
    # One write: threads print at the same time.
    sys.stdout.write(outcome + "\n")
    sys.stdout.flush()


def ask():
    body = json.dumps({"model": MODEL, "prompt": "Say", "max_tokens": TOKENS}).encode()
    request = urllib.request.Request(f"{URL}/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            json.load(response)["choices"][0]["text"]
            tell("answered")
    except Exception as error:
        tell(f"failed {time.time():.1f} {error}")


while True:
    threading.Thread(target=ask).start()
    time.sleep(1 / RATE)
