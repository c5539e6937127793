import { type AskServer, Database, databaseOperator, databaseOperatorWith } from "@konverge/database-operator";
import { type RunningOperator, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { EndpointSlice, Node, Pod } from "konverge/kinds";
import { PretendServers } from "./pretend-servers.ts";

export const NAME = "postgres-orders";
export const pod = (index: number) => `${NAME}-${index}`;

export const replicated = (spec: object = {}, annotations: Record<string, string> = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Database",
  metadata: { name: NAME, annotations },
  spec: { version: "16.4", size: "5Gi", instances: 3, ...spec },
});

/** A test environment with servers that behave like real ones, and a running Database. */
export async function begun(stage: TestEnvironment, spec: object = {}): Promise<PretendServers> {
  return (await begunWithOperator(stage, spec)).servers;
}

/** With the operator, so that it can be stopped. */
export async function begunWithOperator(stage: TestEnvironment, spec: object = {}) {
  const servers = new PretendServers(stage);
  let operator: RunningOperator;
  if (stage.where === "embedded") {
    servers.play("postgres");
    operator = await stage.start(databaseOperator);
  } else {
    // Nothing runs on its nodes: what servers would say is asked for here.
    await supplyVolumes(stage, "20Gi", "20Gi", "20Gi");
    const ask: AskServer = async ({ metadata }, _client, _clock, grant) => {
      await servers.sync();
      return servers.status(metadata.name, grant);
    };
    operator = await stage.start(databaseOperatorWith(ask));
  }
  await stage.apply(replicated(spec));
  await isReady(stage);
  return { servers, operator };
}

export const isReady = (stage: TestEnvironment) =>
  stage.until(
    "it is ready",
    async () => (await stage.condition(Database, NAME, "Ready")) === "True Running" && (await allStream(stage)),
  );

async function allStream(stage: TestEnvironment): Promise<boolean> {
  const { status, spec } = await stage.get(Database, NAME);
  const roles = (status?.servers ?? []).map(({ role }) => role).sort();
  return (
    spec.instances === 1 || roles.join(" ") === ["primary", ...Array(spec.instances - 1).fill("standby")].join(" ")
  );
}

export const primary = async (stage: TestEnvironment) => (await stage.get(Database, NAME)).status?.currentPrimary;
export const leads = (stage: TestEnvironment, index: number) =>
  stage.until(`${pod(index)} leads`, async () => (await primary(stage)) === pod(index));
export const change = (stage: TestEnvironment, spec: object) =>
  stage.client.patch(Database, `${stage.namespace}/${NAME}`, { merge: { spec } as never });

/** The pods that carry the primary's label, and that its Service leads to. */
export async function labelled(stage: TestEnvironment, role: string): Promise<string[]> {
  return (await stage.list(Pod, `database-role=${role}`)).map(({ metadata }) => metadata.name).sort();
}

export const isLabelled = (stage: TestEnvironment, index: number) =>
  stage.until(
    "it alone is labelled as the primary",
    async () => (await labelled(stage, "primary")).join() === pod(index),
  );

export async function servedBy(stage: TestEnvironment, service: string): Promise<string[]> {
  const slices = await stage.list(EndpointSlice, `kubernetes.io/service-name=${service}`);
  const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready);
  return ready.map(({ targetRef }) => targetRef?.name ?? "").sort();
}

/** The node of a server stops reporting: the state of its pods is unknown. */
export async function loseNode(stage: TestEnvironment, servers: PretendServers, index: number): Promise<string> {
  const { spec } = await stage.get(Pod, pod(index));
  servers.isolate(pod(index));
  await silence(stage, spec!.nodeName!, "stopped");
  return spec!.nodeName!;
}

export async function silence(stage: TestEnvironment, node: string, kubelet: string | null): Promise<void> {
  const annotations = { "sim.konverge.dev/kubelet": kubelet };
  await stage.client.patch(Node, node, { merge: { metadata: { annotations } } as never });
}

export const hasEvent = async (stage: TestEnvironment, reason: string) =>
  (await stage.events(Database, NAME)).some((text) => text.includes(reason));

export async function cordon(stage: TestEnvironment, name: string, unschedulable: boolean): Promise<void> {
  await stage.client.patch(Node, name, { merge: { spec: { unschedulable } } });
}
