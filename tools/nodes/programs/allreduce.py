"""Ranks of MPI that add vectors across all of them, as often as the first argument says, and check each sum."""

import sys
import time
from array import array

from mpi4py import MPI

ROUNDS, PAUSE = int(sys.argv[1]), float(sys.argv[2])
# Long enough not to be sent with the first message.
LENGTH = 100_000

world = MPI.COMM_WORLD
print(f"rank {world.rank} of {world.size} runs on {MPI.Get_processor_name()}", flush=True)
for done in range(ROUNDS):
    mine = array("d", [world.rank + 1 + done]) * LENGTH
    total = array("d", [0]) * LENGTH
    world.Allreduce(mine, total)
    expected = world.size * (world.size + 1) / 2 + world.size * done
    if total != array("d", [expected]) * LENGTH:
        sys.exit(f"rank {world.rank}: round {done}: {total[0]} is not {expected}")
    if world.rank == 0:
        print(f"round {done}: the sum of {world.size} ranks is {total[0]:.0f}", flush=True)
    time.sleep(PAUSE)
