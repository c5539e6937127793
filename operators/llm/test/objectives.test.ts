import assert from "node:assert/strict";
import { llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import { onEmbedded, type Scenario, SimulatedLoad, type TestEnvironment } from "@konverge/operator-suite";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";
import { readmeObjects } from "./model-sources-scenarios.ts";

const MINUTE = 60_000;

/** Ten tokens of 100 ms each, four requests at a time; with four, each token takes twice as long. */
async function served(stage: TestEnvironment, sla: object, maxReplicas: number): Promise<SimulatedLoad> {
  const options = { serviceTime: 1_000, concurrency: 4, selector: "app=modeldeployment", crowding: 1 };
  const load = new SimulatedLoad(stage, options);
  await stage.start(llmOperatorWith(load.fetch));
  const capacity = { concurrency: 4 };
  await stage.apply(deployment("chat", { model: "m", gpuCount: 0, sla, capacity, scaling: { maxReplicas } }));
  await untilDeployed(stage, "chat", 1);
  return load;
}

const statusOf = async (stage: TestEnvironment) => (await stage.get(ModelDeployment, "chat")).status!;
const slaMet = async (stage: TestEnvironment) => {
  const { conditions } = await statusOf(stage);
  const { status, reason, message } = conditions!.find(({ type }) => type === "SLAMet")!;
  return `${status} ${reason} ${message}`;
};

/** The model knows nothing of tokens: what is measured adds replicas, and the size stays though the objective is then met. */
const corrected: Scenario = async (stage) => {
  const load = await served(stage, { interTokenLatency: "180ms" }, 10);
  load.rate = 4;
  await load.pass(15 * MINUTE);
  const { decisions = [], objectives, neededReplicas } = await statusOf(stage);
  const correction = decisions.find(({ reason }) => reason === "InterTokenLatencyAboveSLA");
  assert.match(
    correction?.message ?? JSON.stringify(decisions),
    /^the 95th percentile of the inter-token latency is \d+ms, \d+% above 180ms$/,
  );
  assert.match(await slaMet(stage), /^True WithinSLA 95% are within the SLA: inter-token latency$/);
  assert.equal(objectives?.[0]?.name, "interTokenLatency");
  assert.match(objectives?.[0]?.measured ?? "", /^1[0-7]\dms$/);
  assert.ok(neededReplicas! <= 6, JSON.stringify(decisions));
  const events = await stage.events(ModelDeployment, "chat");
  assert.equal(events.filter((line) => line.startsWith("Warning SLAMissed ")).length, 1, events.join("\n"));
  await load.pass(30 * MINUTE);
  const later = (await statusOf(stage)).decisions!.slice(decisions.length);
  assert.ok(later.length <= 1 && later.every(({ from, to }) => to > from), `it flaps: ${JSON.stringify(later)}`);
};

/** No number of replicas makes a token faster than in an empty server: it is reported, and not paid for. */
const futile: Scenario = async (stage) => {
  const load = await served(stage, { interTokenLatency: "60ms" }, 20);
  load.rate = 4;
  await load.pass(20 * MINUTE);
  assert.match(
    await slaMet(stage),
    /^False MoreReplicasDoNotHelp .*inter-token latency .*% above 60ms, also with less load/,
  );
  const { neededReplicas, decisions } = await statusOf(stage);
  assert.ok(neededReplicas! <= 3, JSON.stringify(decisions));
};

/** More replicas than are allowed would help: the condition says so, and which objectives are missed. */
const capped: Scenario = async (stage) => {
  const load = await served(stage, { timeToFirstToken: "300ms", queueTime: "1s" }, 1);
  load.rate = 4;
  await load.pass(4 * MINUTE);
  const condition = await slaMet(stage);
  assert.match(
    condition,
    /^False AtMaximum .*time to first token is .*% above 300ms.*maxReplicas allows no more replicas$/,
  );
  assert.match(condition, /queue time is .*% above 1s/);
};

/** The example of the README, as it is. */
const example: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const [object] = readmeObjects("Service levels");
  await stage.apply(object!);
  await untilDeployed(stage, "interactive", 1);
  const { objectives } = (await stage.get(ModelDeployment, "interactive")).status!;
  assert.deepEqual(objectives, [
    { name: "timeToFirstToken", target: "500ms" },
    { name: "interTokenLatency", target: "60ms" },
    { name: "queueTime", target: "200ms" },
  ]);
  assert.equal(await stage.condition(ModelDeployment, "interactive", "SLAMet"), "Unknown NotMeasured");
};

onEmbedded("an inter-token latency that is missed adds replicas, and the size stays", corrected);
onEmbedded("an objective that no number of replicas meets is reported and takes none", futile);
onEmbedded(
  "missed objectives are reported with how much, and with the bound that keeps replicas from being added",
  capped,
);
onEmbedded("the example of an SLA about tokens converges", example);
