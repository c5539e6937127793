"""Multiplies matrices on the GPU, or on the processor, and prints how fast."""

import json
import time

import torch

is_gpu = torch.cuda.is_available()
device = torch.device("cuda" if is_gpu else "cpu")
size, times = (8192, 50) if is_gpu else (256, 5)
a, b = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))


def multiply(count):
    begun = time.monotonic()
    for _ in range(count):
        a @ b
    if is_gpu:
        torch.cuda.synchronize()
    return time.monotonic() - begun


multiply(3)
seconds = multiply(times)
name = torch.cuda.get_device_name() if is_gpu else "the processor"
rate = 2 * size**3 * times / seconds / 1e12
print("@summary " + json.dumps({"device": name, "teraflops": round(rate, 3), "seconds": round(seconds, 3)}), flush=True)
