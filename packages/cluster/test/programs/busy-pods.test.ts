import assert from "node:assert/strict";
import { test } from "node:test";
import { programStage, until } from "./program-stage.ts";

/** What pods do that never wait for anything. */
const BUSY = [
  "while true; do :; done",
  "for i in $(seq 1 10000); do for j in $(seq 1 10000); do :; done; done",
  "f() { [ $1 -gt 100 ] || f $(($1+1)); }; while :; do f 0; done",
  "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '(a+)+$b'",
  "cat /dev/zero | tr '\\0' x",
];
const PODS = 20;
const REQUESTS = 200;

test("the API server answers while pods are busy", async () => {
  await using stage = await programStage({});
  const { client, cluster } = stage;
  for (let index = 0; index < PODS; index++) {
    const command = ["sh", "-c", BUSY[index % BUSY.length]!];
    await stage.pod(`busy-${index}`, { containers: [{ name: "main", image: "busybox:1.37", command }] });
  }
  const isBusy = async (index: number) => {
    const { metadata } = await stage.get(`busy-${index}`);
    return (cluster.kubelet.containerRuntime.usage({ metadata } as never, "main")?.cpu ?? 0) > 0;
  };
  for (let index = 0; index < PODS; index++) await until(`busy-${index} is busy`, () => isBusy(index));
  for (let request = 0; request < REQUESTS; request++)
    assert.equal(await client.request({ method: "GET", path: "/healthz" }), "ok");
  for (let index = 0; index < PODS; index++) assert.ok(await isBusy(index), `busy-${index}`);
});
