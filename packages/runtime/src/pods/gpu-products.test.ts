import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuProductAffinity, gpuProductsFor, gpuProductsIn, isGpuOfType } from "./gpu-products.ts";

test("a type finds the products that are of it, and no others", () => {
  assert.ok(isGpuOfType("NVIDIA-H100-80GB-HBM3", "H100"));
  assert.ok(isGpuOfType("NVIDIA-A100-SXM4-80GB", "a100-sxm4"));
  assert.ok(isGpuOfType("H100", "H100"));
  assert.ok(!isGpuOfType("NVIDIA-L40S", "L4"));
  assert.ok(!isGpuOfType("NVIDIA-H100-80GB", "H1"));
});

test("all products of the type will do", () => {
  const offered = ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"];
  assert.deepEqual(gpuProductsFor("H100", offered), ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"]);
});

test("a type that no node has is requested as written, for nodes that may come", () => {
  assert.deepEqual(gpuProductsFor("B200", ["NVIDIA-A100-SXM4-80GB"]), ["B200"]);
});

test("a node that is new does not change what replicas run on, the loss of the last one does", () => {
  assert.deepEqual(gpuProductsFor("H100", ["NVIDIA-H100-PCIe", "NVIDIA-H100-NVL"], ["NVIDIA-H100-PCIe"]), [
    "NVIDIA-H100-PCIe",
  ]);
  assert.deepEqual(gpuProductsFor("H100", ["NVIDIA-H100-NVL"], ["NVIDIA-H100-PCIe"]), ["NVIDIA-H100-NVL"]);
  assert.deepEqual(gpuProductsFor("A100", ["NVIDIA-H100-PCIe", "A100"], ["NVIDIA-H100-PCIe"]), ["A100"]);
});

test("an affinity can be read back", () => {
  assert.deepEqual(gpuProductsIn(gpuProductAffinity(["a", "b"])), ["a", "b"]);
  assert.deepEqual(gpuProductsIn(undefined), []);
});
