"""Trains a small transformer with DistributedDataParallel, the same way in every run.

The processes of a job meet as WORLD_SIZE, RANK and MASTER_ADDR say. They may share one GPU, which NCCL refuses, so they exchange
gradients by Gloo. Each step's data follows from its number and the rank, and the algorithms are deterministic: a run that goes on
from a checkpoint has the losses of one that was never interrupted.
"""

import json
import os
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


def setting(name, default):
    return type(default)(os.environ.get(f"HP_{name}", default))


STEPS, EVERY = setting("STEPS", 400), setting("CHECKPOINT_EVERY", 25)
WIDTH, LAYERS, HEADS = setting("WIDTH", 512), setting("LAYERS", 6), setting("HEADS", 8)
BATCH, LENGTH, VOCABULARY = setting("BATCH", 16), setting("LENGTH", 128), 257
RATE, SEED = setting("LEARNING_RATE", 3e-4), setting("SEED", 7)
FOLDER = os.environ.get("CHECKPOINT_DIR", "/tmp")
FILE = os.path.join(FOLDER, "model.pt")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        batch, length, _ = x.shape
        parts = self.qkv(self.before(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        # Written out: the backward pass of fused attention is not deterministic.
        scores = parts[0] @ parts[1].transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        mixed = (scores + mask).softmax(-1) @ parts[2]
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.between(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = torch.full((length, length), float("-inf"), device=tokens.device).triu(1)
        x = self.token(tokens) + self.place.weight[:length]
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def batch(step, rank, world, device):
    """Sequences in which each token follows from the one before by a rule that the first two tokens reveal."""
    random = torch.Generator().manual_seed((SEED * 1_000_003 + step) * world + rank)
    start = torch.randint(VOCABULARY, (BATCH, 1), generator=random)
    stride = torch.randint(1, 9, (BATCH, 1), generator=random)
    return ((start + stride * torch.arange(LENGTH + 1)) % VOCABULARY).to(device)


def keep(step, model, optimizer):
    temporary = FILE + ".new"
    torch.save({"step": step, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, temporary)
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, FILE)


def main():
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name() if device.type == "cuda" else "the processor"
    print(f"rank {rank} of {world} on {name}, torch {torch.__version__}", flush=True)
    torch.manual_seed(SEED)
    model = DistributedDataParallel(Model().to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    begun = 0
    if os.environ.get("RESUME") == "true" and os.path.exists(FILE):
        saved = torch.load(FILE, map_location=device, weights_only=True)
        begun = saved["step"]
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    print(f"begins at step {begun}", flush=True)
    started = time.monotonic()
    for step in range(begun + 1, STEPS + 1):
        tokens = batch(step, rank, world, device)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        mean = loss.detach().double().cpu()
        dist.all_reduce(mean)
        report = {"step": step, "totalSteps": STEPS, "metrics": {"loss": mean.item() / world}}
        if step % EVERY == 0 or step == STEPS:
            if rank == 0:
                keep(step, model, optimizer)
            dist.barrier()
            report["checkpoint"] = FILE
        print("@progress " + json.dumps(report), flush=True)
    seconds = time.monotonic() - started
    parameters = sum(one.numel() for one in model.parameters())
    summary = {"parameters": parameters, "steps": STEPS - begun, "seconds": round(seconds, 2), "device": name}
    print("@summary " + json.dumps(summary), flush=True)
    dist.destroy_process_group()


main()
