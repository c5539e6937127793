import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { realClock } from "@konverge/core";
import { ConfigMap, Node, Pod } from "@konverge/kinds";
import { until } from "../../test/command-stage.ts";
import { down, upInBackground } from "../up/background.ts";
import { getText } from "./get-objects.ts";
import { clientOf, runningCluster, statusOf } from "./running-cluster.ts";
import { snapshot } from "./snapshot.ts";

let folder: string;
const homeBefore = process.env["KONVERGE_HOME"];
before(() => {
  folder = mkdtempSync(join(tmpdir(), "konverge-embedded-"));
  process.env["KONVERGE_HOME"] = folder;
});
after(async () => {
  for (const name of ["one", "two"]) await down(name, realClock());
  rmSync(folder, { recursive: true, force: true });
  if (homeBefore === undefined) delete process.env["KONVERGE_HOME"];
  else process.env["KONVERGE_HOME"] = homeBefore;
});

const start = (name: string, ...more: string[]) =>
  upInBackground(name, [
    "--name",
    name,
    "--kubeconfig",
    join(folder, name),
    "--nodes",
    "1",
    "--gpus",
    "H100=8",
    ...more,
  ]);

test("clusters run side by side; one starts with the state of another; GPU nodes run pods that request GPUs", {
  skip: process.platform === "win32",
}, async () => {
  await assert.rejects(runningCluster(), /no cluster runs: start one with npx konverge up/);
  const one = await start("one");
  await using client = await clientOf(one);
  await client.create(ConfigMap, { metadata: { name: "kept" }, data: { a: "b" } });
  assert.equal((await runningCluster()).name, "one");
  const gpus = { "nvidia.com/gpu": "1" };
  const containers = [{ name: "c", image: "i", resources: { limits: gpus } }];
  await client.create(Pod, { metadata: { name: "training" }, spec: { containers } } as never);
  await until("the pod with a GPU runs", async () => (await client.get(Pod, "training")).status?.phase === "Running");
  const { spec } = await client.get(Node, "gpu-h100-1");
  assert.deepEqual(spec?.taints, [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }]);

  const file = join(folder, "state");
  await snapshot(one, file, realClock());
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const two = await start("two", "--snapshot", file);
  await using restored = await clientOf(two);
  assert.equal((await restored.get(ConfigMap, "kept")).data?.["a"], "b");
  await client.delete(ConfigMap, "kept");
  assert.match(
    await getText(restored, { resource: "cm", namespace: "default", output: "text" }),
    /^NAME +DATA +AGE\n[\s\S]*kept +1 /,
  );
  assert.match(
    await getText(restored, { resource: "pods", output: "text" }),
    /^NAMESPACE +NAME +READY +STATUS[\s\S]*default +training +1\/1 +Running/,
  );
  assert.equal(
    JSON.parse(await getText(restored, { resource: "cm", object: "kept", namespace: "default", output: "json" })).data
      .a,
    "b",
  );
  await assert.rejects(getText(restored, { resource: "nothing", output: "text" }), /the cluster has no kind nothing/);

  await assert.rejects(runningCluster(), /several clusters run: choose one with --name: one, two/);
  await assert.rejects(runningCluster("three"), /no cluster named three runs, only: one, two/);
  const { nodes, pods, version } = await statusOf(two);
  assert.deepEqual([nodes?.all, pods?.all, version?.startsWith("v1.")], [2, 1, true]);
});
