"""Trains MNIST on all workers of a TrainingJob, and says how far it is.

Everything comes from the environment that the operator sets: who the others are (MASTER_ADDR, MASTER_PORT, RANK,
WORLD_SIZE), the hyperparameters (HP_*), and where to go on after a restart (CHECKPOINT_DIR, RESUME_CHECKPOINT).
"""

import argparse
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets, transforms


def report(**progress):
    """One line on standard output, which the operator reads."""
    print("@progress " + json.dumps(progress), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--data", default="/data")
    args = parser.parse_args()

    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    images = datasets.MNIST(args.data, train=True, download=False, transform=transforms.ToTensor())
    sampler = DistributedSampler(images)
    loader = DataLoader(images, batch_size=args.batch_size, sampler=sampler)

    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=float(os.environ.get("HP_LEARNING_RATE", "0.001")))
    first = 0
    resume = os.environ.get("RESUME_CHECKPOINT")
    if resume:
        saved = torch.load(resume, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"] + 1
    model = DistributedDataParallel(model)
    loss_of = nn.CrossEntropyLoss()

    total = args.epochs * len(loader)
    for epoch in range(first, args.epochs):
        sampler.set_epoch(epoch)
        for batch, (inputs, labels) in enumerate(loader):
            optimizer.zero_grad()
            loss = loss_of(model(inputs.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            if batch % 50 == 0:
                step = epoch * len(loader) + batch
                report(step=step, totalSteps=total, epoch=epoch, metrics={"loss": loss.item()})
        if rank == 0 and "CHECKPOINT_DIR" in os.environ:
            path = os.path.join(os.environ["CHECKPOINT_DIR"], f"epoch-{epoch}.pt")
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
            torch.save(state, path)
            report(step=(epoch + 1) * len(loader), totalSteps=total, epoch=epoch, checkpoint=path)

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
