"""Posts BODY to URL 20 times per second, with new connections, and prints each response."""

import os
import sys
import threading
import time
import urllib.request

URL, BODY = os.environ["URL"], os.environ["BODY"].encode()


def tell(outcome):
    # One write: threads print at the same time.
    sys.stdout.write(outcome + "\n")
    sys.stdout.flush()


def ask():
    request = urllib.request.Request(URL, BODY, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            tell("answered " + response.read().decode())
    except Exception as error:
        tell(f"failed {time.time():.1f} {error}")


while True:
    threading.Thread(target=ask).start()
    time.sleep(0.05)
