import assert from "node:assert/strict";
import { test } from "node:test";
import { isOfType, onProducts, productsFor, productsIn } from "./gpu-nodes.ts";

test("a type finds the products that are of it, and no others", () => {
  assert.ok(isOfType("NVIDIA-H100-80GB-HBM3", "H100"));
  assert.ok(isOfType("NVIDIA-A100-SXM4-80GB", "a100-sxm4"));
  assert.ok(isOfType("H100", "H100"));
  assert.ok(!isOfType("NVIDIA-L40S", "L4"));
  assert.ok(!isOfType("NVIDIA-H100-80GB", "H1"));
});

test("all products of the type will do", () => {
  const offered = ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"];
  assert.deepEqual(productsFor("H100", offered), ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"]);
});

test("what nobody has is asked for as it is written, for nodes that may come", () => {
  assert.deepEqual(productsFor("B200", ["NVIDIA-A100-SXM4-80GB"]), ["B200"]);
});

test("a node that is new does not change what replicas run on, the loss of the last one does", () => {
  assert.deepEqual(productsFor("H100", ["NVIDIA-H100-PCIe", "NVIDIA-H100-NVL"], ["NVIDIA-H100-PCIe"]), [
    "NVIDIA-H100-PCIe",
  ]);
  assert.deepEqual(productsFor("H100", ["NVIDIA-H100-NVL"], ["NVIDIA-H100-PCIe"]), ["NVIDIA-H100-NVL"]);
  assert.deepEqual(productsFor("A100", ["NVIDIA-H100-PCIe", "A100"], ["NVIDIA-H100-PCIe"]), ["A100"]);
});

test("an affinity can be read back", () => {
  assert.deepEqual(productsIn(onProducts(["a", "b"])), ["a", "b"]);
  assert.deepEqual(productsIn(undefined), []);
});
