"""Fits a line to points by gradient descent, in as many processes as WORLD_SIZE says.

The ranks meet at MASTER_ADDR:MASTER_PORT as PyTorch's do, each has a part of the points, and rank 0 adds up their gradients in
every step. It keeps a checkpoint in CHECKPOINT_DIR; with RESUME=true all go on from there. A lost peer ends all of them.
"""

import json
import os
import socket
import sys
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
MASTER = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
CHECKPOINT = os.path.join(os.environ.get("CHECKPOINT_DIR", "/tmp"), "line.json")
STEPS, PAUSE = int(os.environ.get("HP_STEPS", "200")), float(os.environ.get("HP_PAUSE", "0"))
POINTS = [(x / 10, 3 * x / 10 + 2) for x in range(-20, 20)][RANK::WORLD]


def rendezvous():
    """Rank 0 waits for all others and sends them where to begin; the others come again and again until it is there."""
    if RANK == 0:
        server = socket.create_server(("", MASTER[1]))
        return [server.accept()[0].makefile("rw") for _ in range(WORLD - 1)]
    for _ in range(240):
        try:
            return [socket.create_connection(MASTER, timeout=60).makefile("rw")]
        except OSError:
            time.sleep(0.25)
    sys.exit("rank 0 cannot be reached")


def send(peer, value):
    peer.write(json.dumps(value) + "\n")
    peer.flush()


def receive(peer):
    line = peer.readline()
    if not line:
        sys.exit("a peer is gone")
    return json.loads(line)


def gradient(state):
    errors = [(state["slope"] * x + state["offset"] - y, x) for x, y in POINTS]
    return [sum(e * x for e, x in errors), sum(e for e, _ in errors), sum(e * e for e, _ in errors), len(errors)]


def keep(state):
    with open(CHECKPOINT + ".new", "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(CHECKPOINT + ".new", CHECKPOINT)


def main():
    peers = rendezvous()
    state = {"step": 0, "slope": 0.0, "offset": 0.0}
    if RANK == 0 and os.environ.get("RESUME") == "true" and os.path.exists(CHECKPOINT):
        with open(CHECKPOINT) as file:
            state = json.load(file)
    print(f"rank {RANK} of {WORLD} begins", flush=True)
    first = True
    while True:
        if RANK == 0:
            for peer in peers:
                send(peer, state)
        else:
            state = receive(peers[0])
        if first:
            print(f"begins at step {state['step']}", flush=True)
            first = False
        if state["step"] >= STEPS:
            break
        mine = gradient(state)
        if RANK > 0:
            send(peers[0], mine)
        else:
            parts = [mine] + [receive(peer) for peer in peers]
            slope, offset, loss, count = (sum(part) for part in zip(*parts))
            rate = 0.3 / count
            state = {
                "step": state["step"] + 1,
                "slope": state["slope"] - rate * slope,
                "offset": state["offset"] - rate * offset,
            }
            if state["step"] % 5 == 0:
                keep(state)
        report = {"step": state["step"] + (RANK > 0), "totalSteps": STEPS}
        if RANK == 0:
            report["metrics"] = {"loss": loss / count}
            if state["step"] % 5 == 0:
                report["checkpoint"] = CHECKPOINT
        print("@progress " + json.dumps(report), flush=True)
        time.sleep(PAUSE)
    print(f"ends with {state['slope']:.3f} x + {state['offset']:.3f}", flush=True)


main()
