import assert from "node:assert/strict";
import { test } from "node:test";
import type { RegularFile } from "../userland/file-tree.ts";
import { ControlGroup } from "./control-group.ts";

const cpuMax = (cpu?: string) => {
  const container = { name: "main", ...(cpu !== undefined && { resources: { limits: { cpu } } }) };
  const { root } = new ControlGroup({ metadata: { name: "p" }, spec: { containers: [container] } } as never, container);
  return Buffer.from((root.entries.get("cpu.max") as RegularFile).data)
    .toString()
    .trim();
};

test("a container's share of the processor is what a kubelet makes of its limit, and never less than a millisecond", () => {
  assert.equal(cpuMax("1500m"), "150000 100000");
  assert.equal(cpuMax("5m"), "1000 100000");
  assert.equal(cpuMax(), "max 100000");
  assert.equal(cpuMax("0"), "max 100000");
});
