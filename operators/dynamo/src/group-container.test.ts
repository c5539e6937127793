import assert from "node:assert/strict";
import { test } from "node:test";
import { groupContainer } from "./group-container.ts";

const probe = { httpGet: { path: "/live", port: "system" } };
const vllm = { name: "main", command: ["python3", "-m", "dynamo.vllm"], args: ["--model", "m"], livenessProbe: probe };

test("the leader of a group starts Ray and then vLLM; the others join, and are not probed", () => {
  const leader = groupContainer(vllm, "leader", 2);
  const [shell, flag, script, ...words] = leader.command!;
  assert.deepEqual([shell, flag], ["/bin/sh", "-c"]);
  assert.match(script!, /^ray start --head --port=6379 && exec "\$0" "\$@"$/);
  assert.deepEqual([words, leader.args], [["python3", "-m", "dynamo.vllm", "--model", "m"], undefined]);
  assert.deepEqual(leader.livenessProbe, probe);
  const worker = groupContainer(vllm, "worker", 2);
  assert.match(worker.command!.at(-1)!, /^exec ray start --address="\$LWS_LEADER_ADDRESS:6379" --block$/);
  assert.deepEqual([worker.args, worker.livenessProbe], [undefined, undefined]);
});

test("SGLang is told its place in the group", () => {
  const container = { name: "main", command: ["python3", "-m", "dynamo.sglang"], args: ["--tp", "16"] };
  const { args } = groupContainer(container, "worker", 2);
  assert.deepEqual(args, [
    ...["--tp", "16", "--dist-init-addr", "$(LWS_LEADER_ADDRESS):29500"],
    ...["--nnodes", "2", "--node-rank", "$(LWS_WORKER_INDEX)"],
  ]);
});

test("a program of another engine is left as it is", () => {
  const own = { name: "main", command: ["serve"], readinessProbe: probe };
  assert.deepEqual(groupContainer(own, "leader", 2), own);
  assert.deepEqual(groupContainer(own, "worker", 2), { name: "main", command: ["serve"] });
});
