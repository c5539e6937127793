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
export async function reportFailure(cluster: NodeCluster, scenario: string, error: string): Promise<void> {
  mkdirSync(resultsFolder(), { recursive: true });
  const write = (text: string) => appendFileSync(join(resultsFolder(), "failures.txt"), `${text}\n`);
  write(`# ${scenario}\n${error}`);
  const { client } = cluster;
  const lists = [client.list(Node), client.list(TrainingJob), client.list(LLMModel), client.list(ModelDeployment)];
  for (const { items } of await Promise.all(lists)) {
    for (const { kind, metadata, status } of items) write(`${kind} ${metadata.name} ${JSON.stringify(status)}`);
  }
  for (const { metadata, spec, status } of (await client.list(Pod)).items) {
    const name = `${metadata.namespace}/${metadata.name}`;
    write(`Pod ${name} ${JSON.stringify(status)}`);
    for (const container of spec?.containers ?? []) {
      const read = Array.fromAsync(client.logs(name, { container: container.name, tailLines: LINES }));
      const lines = await read.catch((error: unknown) => [String(error)]);
      write(`log of ${container.name}\n${lines.join("\n")}`);
    }
  }
  for (const { involvedObject, reason, message, type } of (await client.list(Event)).items) {
    write(`Event ${type} ${involvedObject.kind} ${involvedObject.name} ${reason}: ${message}`);
  }
}
