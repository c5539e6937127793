"""A group that grows and shrinks: its members meet at PET_RDZV_ENDPOINT, as those of an elastic PyTorch job do.

The member at that address counts the others. When the group has been as large as PET_NNODES allows, and has the size it began
with again, it ends, and all others with it.
"""

import os
import selectors
import socket
import sys
import time

host, port = os.environ["PET_RDZV_ENDPOINT"].rsplit(":", 1)
least, most = (int(bound) for bound in os.environ["PET_NNODES"].split(":"))


def follow():
    for _ in range(240):
        try:
            with socket.create_connection((host, int(port)), timeout=60) as peer:
                peer.settimeout(None)
                sys.exit(0 if peer.recv(1) else "the group is gone")
        except OSError:
            time.sleep(0.25)
    sys.exit("the group cannot be reached")


def lead():
    server, peers = socket.create_server(("", int(port))), set()
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    reached = 0
    while True:
        for key, _ in selector.select():
            if key.fileobj is server:
                peer = server.accept()[0]
                peers.add(peer)
                selector.register(peer, selectors.EVENT_READ)
            else:
                selector.unregister(key.fileobj)
                peers.discard(key.fileobj)
            size = len(peers) + 1
            reached = max(reached, size)
            print(f"group of {size}", flush=True)
            if reached == most and size == least:
                for peer in peers:
                    peer.send(b".")
                return print("the group ends", flush=True)


if host.split(".")[0] == socket.gethostname():
    lead()
else:
    follow()
