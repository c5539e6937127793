import assert from "node:assert/strict";
import {
  DRAIN_PERIOD,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperatorWith,
  SERVING,
} from "@konverge/dynamo-operator";
import { type Scenario, SimulatedLoad, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { Deployment, EndpointSlice, Pod } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const MINUTE = 60_000;
const frontends = "nvidia.com/selector=chat-frontend";

const scaleTo = (stage: TestEnvironment, replicas: number) =>
  stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/chat`, {
    merge: { spec: { services: { Frontend: { replicas } } } },
  });
const size = async (stage: TestEnvironment) => (await stage.get(Deployment, "chat-frontend")).spec?.replicas;
const podsOf = (stage: TestEnvironment) => stage.list(Pod, frontends);
const marked = async (stage: TestEnvironment) =>
  (await podsOf(stage)).filter(({ metadata }) => metadata.labels?.[SERVING] === "false");
const draining = async (stage: TestEnvironment) =>
  (await stage.get(DynamoComponentDeployment, "chat-frontend")).status?.draining;

/** A graph of three frontends that tell how many requests they have: as many as `requests` says of their address. */
async function threeFrontends(
  stage: TestEnvironment,
  requests: Map<string, number>,
  settings: Record<string, string> = {},
) {
  const operator = dynamoOperatorWith(
    async (url) => `dynamo_frontend_inflight_requests ${requests.get(new URL(url).hostname) ?? 0}`,
  );
  await supplyVolumes(stage, "20Gi");
  const running = await stage.start(operator, { settings });
  await stage.apply(sample("graph").replace("replicas: 1", "replicas: 3"));
  await stage.until("three frontends are ready", async () => {
    return (await stage.find(DynamoComponentDeployment, "chat-frontend"))?.status?.readyReplicas === 3;
  });
  return running;
}

async function addressesInService(stage: TestEnvironment): Promise<string[]> {
  const slices = await stage.list(EndpointSlice, "kubernetes.io/service-name=chat-frontend");
  return slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
}

/** Pods that are to go are asked no more, finish what they have, and only then go: these, and no others. */
export const drains: Scenario = async (stage) => {
  const requests = new Map<string, number>();
  // Long enough for a machine that is busy with other things.
  await threeFrontends(stage, requests, { drainTimeout: "10m" });
  const addresses = (await podsOf(stage)).map(({ status }) => status!.podIP!);
  for (const address of addresses) requests.set(address, 2);
  const before = await stage.get(DynamoGraphDeployment, "chat");
  await scaleTo(stage, 1);
  await stage.until("two pods drain", async () => (await marked(stage)).length === 2 && (await draining(stage)) === 2);
  const going = await marked(stage);
  const goes = new Set(going.map(({ metadata }) => metadata.name));
  const stays = (await podsOf(stage)).find(({ metadata }) => !goes.has(metadata.name))!;
  await stage.until("they are out of the Service", async () => {
    return (await addressesInService(stage)).join() === stays.status!.podIP;
  });
  await stage.advance(4 * DRAIN_PERIOD);
  assert.equal(await size(stage), 3, "nobody goes while they have something to do");

  requests.set(going[0]!.status!.podIP!, 0);
  await stage.advance(4 * DRAIN_PERIOD);
  assert.equal(await size(stage), 3, "one of them still has");
  requests.set(going[1]!.status!.podIP!, 0);
  await stage.until("they are gone", async () => (await podsOf(stage)).length === 1);
  assert.equal((await podsOf(stage))[0]!.metadata.uid, stays.metadata.uid, "exactly these have gone");
  await stage.until("none is named any more", async () => (await draining(stage)) === undefined);
  // The graph is as its author left it.
  const { spec } = await stage.get(DynamoGraphDeployment, "chat");
  assert.deepEqual(spec, {
    ...before.spec,
    services: { ...before.spec.services, Frontend: { ...before.spec.services!["Frontend"], replicas: 1 } },
  });
};

/** That is told in an event, which may get lost when the operator dies at that moment. */
export const drainsAndTells: Scenario = async (stage) => {
  await drains(stage);
  const events = await stage.events(DynamoComponentDeployment, "chat-frontend");
  assert.ok(
    events.some((told) => told.startsWith("Normal Draining ")),
    events.join("\n"),
  );
};

/** A pod that never finishes goes when its time is up, also with an operator that was crashed meanwhile. */
export const drainsForSoLong: Scenario = async (stage) => {
  const requests = new Map<string, number>();
  const running = await threeFrontends(stage, requests, { drainTimeout: "90s" });
  for (const { status } of await podsOf(stage)) requests.set(status!.podIP!, 1);
  await scaleTo(stage, 2);
  await stage.until("a pod drains", async () => (await marked(stage)).length === 1);
  const [going] = await marked(stage);
  await stage.advance(60_000);
  running.crash();
  await running.restart();
  assert.equal(await size(stage), 3);
  await stage.advance(60_000);
  await stage.until("it is gone", async () => !(await stage.find(Pod, going!.metadata.name)));
  assert.equal(await size(stage), 2);
};

/** Who is wanted after all is asked again. */
export const drainsNoMore: Scenario = async (stage) => {
  const requests = new Map<string, number>();
  await threeFrontends(stage, requests);
  for (const { status } of await podsOf(stage)) requests.set(status!.podIP!, 1);
  await scaleTo(stage, 1);
  await stage.until("two pods drain", async () => (await marked(stage)).length === 2);
  await scaleTo(stage, 3);
  await stage.until(
    "all serve again",
    async () => (await marked(stage)).length === 0 && (await addressesInService(stage)).length === 3,
  );
  assert.equal(await size(stage), 3);
};

/** A model whose service time is declared wrongly, and clients and servers that measurements know better from. */
async function measured(stage: TestEnvironment) {
  const selector = "nvidia.com/selector=summary-vllmworker";
  const load = new SimulatedLoad(stage, { serviceTime: 100, concurrency: 4, selector });
  const operator = await stage.start(dynamoOperatorWith(load.fetch));
  await stage.apply({
    apiVersion: "nvidia.com/v1alpha1",
    kind: "DynamoGraphDeployment",
    metadata: { name: "summary" },
    spec: {
      sla: { maxLatencyMs: 250, minThroughput: 20, maxReplicas: 12 },
      model: { name: "summary-8b", serviceTimeMs: 50, concurrency: 4, placement: { tensorParallelSize: 1 } },
    },
  });
  const count = async () => (await stage.get(Deployment, "summary-vllmworker")).spec?.replicas ?? 0;
  await stage.until(
    "the declared load is served",
    async () => (await stage.get(DynamoGraphDeployment, "summary")).status?.state === "successful",
  );
  return { load, count, operator };
}

/** More load takes more workers, as soon as it is measured. */
export const rises: Scenario = async (stage) => {
  const { load, count } = await measured(stage);
  const declared = await count();
  load.rate = 100;
  await stage.until("there are more workers", async () => {
    await load.pass(5_000);
    const { status } = await stage.get(DynamoGraphDeployment, "summary");
    return status?.sizing?.measured === true && (await count()) > declared;
  });
  const events = await stage.events(DynamoGraphDeployment, "summary");
  assert.ok(
    events.some((told) => told.includes(" ScaledUp ")),
    events.join("\n"),
  );
};

/** The workers of a model follow the load that is measured, within what is promised, and never below what is declared. */
export const follows: Scenario = async (stage) => {
  const { load, count, operator } = await measured(stage);
  const declared = await count();
  const before = await stage.get(DynamoGraphDeployment, "summary");
  load.rate = 100;
  await load.pass(6 * MINUTE);
  const busy = await count();
  assert.ok(busy > declared, `100 requests/s take more than ${declared}: ${busy}`);
  await load.pass(3 * MINUTE);
  const latency = load.latency(MINUTE, 0.95);
  assert.ok(latency <= 0.25, `95% took up to ${latency} s with ${await count()} workers`);
  assert.equal(await stage.condition(DynamoGraphDeployment, "summary", "SLAMet"), "True WithinSLA");
  const { status } = await stage.get(DynamoGraphDeployment, "summary");
  assert.equal(status?.sizing?.measured, true);
  assert.match(status!.sizing!.reason, /requests per second of .* ms each were measured/);
  const metrics = await operator.metrics();
  const value = (name: string) => Number(new RegExp(`^${name}{.*name="summary".*} (\\S+)$`, "m").exec(metrics)?.[1]);
  assert.ok(Math.abs(value("dynamo_graph_requests_per_second") - 100) < 20, metrics);
  assert.ok(value("dynamo_graph_latency_seconds") <= 0.25);
  assert.equal(value("dynamo_graph_sla_met"), 1);
  assert.equal(value("dynamo_graph_workers_wanted"), status?.sizing?.replicas);
  load.rate = 5;
  await load.pass(15 * MINUTE);
  const calm = await count();
  assert.ok(calm < busy && calm >= declared, `from ${declared} to ${busy} and back to ${calm}`);
  const after = await stage.get(DynamoGraphDeployment, "summary");
  assert.deepEqual(
    [after.spec, after.metadata.generation],
    [before.spec, before.metadata.generation],
    "the spec is its author's",
  );
  const events = await stage.events(DynamoGraphDeployment, "summary");
  for (const reason of ["ScaledUp", "ScaledDown"])
    assert.ok(
      events.some((told) => told.includes(` ${reason} `)),
      events.join("\n"),
    );
};
