// `npm start`: an embedded cluster, the operators, a sample of each kind, converging before your eyes.
import { parseArgs } from "node:util";
import { startCluster } from "@konverge/cluster";
import { keyOf, sleep } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { LLMModel, llmModels } from "@konverge/llm-operator";
import { run } from "@konverge/runtime";
import { LiveView } from "./live-view.ts";

const { values: options } = parseArgs({
  options: {
    /** End when everything has converged: 0 if it has, 1 if not. */
    exit: { type: "boolean", default: false },
    /** Seconds to wait for that. */
    timeout: { type: "string", default: "60" },
  },
});

const samples = [
  LLMModel.new(
    { name: "llama-3-70b", namespace: "default" },
    { modelName: "llama-3-70b", replicas: 3, gpuType: "H100", gpuCount: 4 },
  ),
  LLMModel.new({ name: "mistral-7b", namespace: "default" }, { replicas: 2, gpuType: "A100" }),
];

await using cluster = await startCluster();
const { client, clock } = cluster;
await client.create(CustomResourceDefinition, LLMModel.crd());
const manager = await run(llmModels, { client });
for (const sample of samples) await client.create(LLMModel, sample);

const view = new LiveView(
  client,
  samples.map((sample) => ({ kind: LLMModel, key: keyOf(sample) })),
);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());
const deadline = clock.monotonic() + Number(options.timeout) * 1000;
try {
  for (;;) {
    await view.refresh();
    if (options.exit && (view.converged() || clock.monotonic() > deadline)) break;
    await sleep(clock, 200, { signal: stop.signal });
  }
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
await manager.stop();
if (options.exit) {
  for (const name of view.notConverged()) console.error(`did not converge: ${name}`);
  process.exitCode = view.converged() ? 0 : 1;
}
