import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Event, Node, Pod } from "@konverge/kinds";
import { LLMModel, ModelDeployment } from "@konverge/llm-operator";
import type { NodeCluster } from "@konverge/nodes";
import { TrainingJob } from "@konverge/training-operator";
import { resultsFolder } from "./measurements.ts";

/** The most lines of a container's log that a report has. */
const LINES = 40;

/** Writes what the cluster looks like when a scenario has failed, so that its cause is known without another run. */
export async function reportFailure(cluster: NodeCluster, scenario: string): Promise<void> {
  mkdirSync(resultsFolder(), { recursive: true });
  const write = (text: string) => appendFileSync(join(resultsFolder(), "failures.txt"), `${text}\n`);
  write(`# ${scenario}`);
  for (const kind of [Node, TrainingJob, LLMModel, ModelDeployment]) {
    for (const { metadata, status } of (await cluster.client.list(kind)).items) {
      write(`${kind.kind} ${metadata.name} ${JSON.stringify(status)}`);
    }
  }
  for (const { metadata, spec, status } of (await cluster.client.list(Pod)).items) {
    const name = `${metadata.namespace}/${metadata.name}`;
    write(`Pod ${name} ${JSON.stringify(status)}`);
    for (const container of spec?.containers ?? []) {
      const read = Array.fromAsync(cluster.client.logs(name, { container: container.name, tailLines: LINES }));
      const lines = await read.catch((error: unknown) => [String(error)]);
      write(`log of ${container.name}\n${lines.join("\n")}`);
    }
  }
  for (const { involvedObject, reason, message, type } of (await cluster.client.list(Event)).items) {
    write(`Event ${type} ${involvedObject.kind} ${involvedObject.name} ${reason}: ${message}`);
  }
}
