"""Tasks that know each other from TF_CONFIG, as those of TensorFlow do: workers send a result to the chief, which ends with all.

Workers end after HOLD seconds. One that is replaced meanwhile begins again; the chief waits for it.
"""

import json
import os
import socket
import time

config = json.loads(os.environ["TF_CONFIG"])
kind, index = config["task"]["type"], config["task"]["index"]
host, port = config["cluster"]["chief"][0].rsplit(":", 1)
print(f"{kind} {index} begins", flush=True)

if kind == "chief":
    server, results = socket.create_server(("", int(port))), {}
    while len(results) < len(config["cluster"]["worker"]):
        with server.accept()[0].makefile() as peer:
            results.update([peer.readline().strip().split(" ", 1)])
    print("results", json.dumps(results, sort_keys=True), flush=True)
else:
    time.sleep(float(os.environ.get("HOLD", "0")))
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=5) as chief:
                chief.sendall(f"{index} {socket.gethostname()}\n".encode())
            break
        except OSError:
            time.sleep(0.5)
