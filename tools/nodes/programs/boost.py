"""Trains a model by XGBoost in as many processes as WORLD_SIZE says; they meet at the tracker, which rank 0 runs.

Each rank has a part of the rows. All ranks end with the same model, and print how well it predicts.
"""

import os
import socket
import time
import zlib

import numpy
import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
HOST, PORT = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def join():
    """The tracker may start later than the workers, and its name is known later still."""
    for _ in range(60):
        try:
            return collective.init(dmlc_tracker_uri=socket.gethostbyname(HOST), dmlc_tracker_port=PORT)
        except (OSError, xgboost.core.XGBoostError):
            time.sleep(1)
    raise SystemExit("the tracker cannot be reached")


if RANK == 0:
    tracker = RabitTracker(host_ip=socket.gethostbyname(socket.gethostname()), n_workers=WORLD, port=PORT)
    tracker.start()
join()
random = numpy.random.default_rng(7)
rows = random.uniform(size=(3000, 4))
labels = (rows[:, 0] + rows[:, 1] > 1).astype(int)
part = xgboost.DMatrix(rows[RANK::WORLD], labels[RANK::WORLD])
print(f"rank {RANK} of {collective.get_world_size()} trains with {part.num_row()} rows", flush=True)
model = xgboost.train({"objective": "binary:logistic", "nthread": 1}, part, num_boost_round=20)
right = ((model.predict(xgboost.DMatrix(rows)) > 0.5) == labels).mean()
print(f"model {zlib.crc32(''.join(model.get_dump()).encode())} predicts {right:.3f}", flush=True)
collective.finalize()
if RANK == 0:
    tracker.wait_for()
