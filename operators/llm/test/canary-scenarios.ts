import assert from "node:assert/strict";
import { HTTPRoute, llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import {
  installForeignKind,
  type RunningOperator,
  type Scenario,
  SimulatedLoad,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { ConfigMap, ControllerRevision, Pod, Service, StatefulSet } from "konverge/kinds";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";
import { readmeObjects } from "./model-sources-scenarios.ts";

const MINUTE = 60_000;
const [OLD, NEW, NEWER] = ["vllm/vllm-openai:v0.8", "vllm/vllm-openai:v0.9", "vllm/vllm-openai:v0.10"] as const;
const UNKNOWN = "registry.example/none:1";
const canary = { stepWeights: [20, 50], interval: "2m" };

/** A ModelDeployment whose rollouts have a canary. */
function chat(image: string, spec: object = {}): object {
  return deployment("chat", { model: "m", replicas: 4, gpuCount: 0, image, rollout: { canary }, ...spec });
}

const statusOf = async (stage: TestEnvironment) => (await stage.get(ModelDeployment, "chat")).status!;

/** The canary in a word: `Analyzing 1`, with its step counted from 0. */
async function phase(stage: TestEnvironment): Promise<string | undefined> {
  const { canary: state } = await statusOf(stage);
  return state && `${state.phase} ${state.step}`;
}

async function untilPhase(stage: TestEnvironment, words: string | undefined): Promise<void> {
  await stage.until(`the canary is ${words}`, async () => (await phase(stage)) === words, 60 * MINUTE);
}

async function imageOf(stage: TestEnvironment, set: string): Promise<string | undefined> {
  return (await stage.find(StatefulSet, set))?.spec?.template.spec?.containers[0]?.image;
}

/** The stable revision alone runs this image, and the status is of the present generation. */
async function untilStable(stage: TestEnvironment, image: string): Promise<void> {
  const records = () => stage.list(ControllerRevision, "app.kubernetes.io/managed-by=llm-operator,!app");
  await stage.until(
    `${image} is all that runs`,
    async () => {
      const { metadata, status } = await stage.get(ModelDeployment, "chat");
      const pods = await stage.list(Pod, "ai.example.com/deployment=chat");
      return (
        status?.observedGeneration === metadata.generation &&
        (await stage.condition(ModelDeployment, "chat", "Ready")) === "True AsExpected" &&
        pods.every(({ spec }) => spec?.containers[0]?.image === image) &&
        (await stage.find(StatefulSet, "chat-canary")) === undefined &&
        (await stage.find(ConfigMap, "chat-canary")) === undefined &&
        (await records()).length === 1
      );
    },
    60 * MINUTE,
  );
  assert.equal(await phase(stage), undefined);
  const { stableRevision } = await statusOf(stage);
  assert.deepEqual(
    (await records()).map(({ metadata }) => metadata.name),
    [`chat-revision-${stableRevision}`],
  );
}

/** From a first revision to a second, through each step. */
export const promoted: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW, { model: "other" }));
  await untilPhase(stage, "Analyzing 0");
  assert.equal(await imageOf(stage, "chat"), OLD);
  assert.equal(await imageOf(stage, "chat-canary"), NEW);
  await untilPhase(stage, "Analyzing 1");
  await untilStable(stage, NEW);
};

/** The least that takes all that the operator does for a canary. */
export const smallCanary: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const small = { replicas: 1, rollout: { canary: { stepWeights: [50], interval: "30s" } } };
  await stage.apply(chat(OLD, small));
  await untilDeployed(stage, "chat", 1);
  await stage.apply(chat(NEW, small));
  await untilStable(stage, NEW);
};

/** The least that takes a rollback. */
export const smallRollback: Scenario = async (stage) => {
  unpullable(stage, UNKNOWN);
  await stage.start(operatorWithoutMetrics);
  const small = { replicas: 1, startupTimeout: "1m", rollout: { canary: { stepWeights: [50], interval: "30s" } } };
  await stage.apply(chat(OLD, small));
  await untilDeployed(stage, "chat", 1);
  await stage.apply(chat(UNKNOWN, small));
  await untilPhase(stage, "RolledBack 0");
  await stage.until("its servers are gone", async () => (await stage.find(StatefulSet, "chat-canary")) === undefined);
};

/** The same, with assertions on each step. */
export const watchedSteps: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  const pods = (await stage.list(Pod, "app=modeldeployment")).map(({ metadata }) => metadata.uid);
  const { stableRevision } = await statusOf(stage);

  await stage.apply(chat(NEW, { model: "other" }));
  await untilPhase(stage, "Analyzing 0");
  const first = await statusOf(stage);
  assert.equal(first.stableRevision, stableRevision);
  assert.deepEqual([first.canary?.weight, first.canary?.replicas, first.canary?.readyReplicas], [20, 1, 1]);
  assert.equal(first.readyReplicas, 4);
  assert.equal(await stage.condition(ModelDeployment, "chat", "Ready"), "False CanaryInProgress");
  assert.equal(await stage.condition(ModelDeployment, "chat", "Progressing"), "True CanaryInProgress");
  assert.equal(await stage.condition(ModelDeployment, "chat", "Canary"), "True ReplicaShare");
  assert.deepEqual((await stage.get(Service, "chat")).spec?.selector, { "ai.example.com/deployment": "chat" });
  const config = async (name: string) => (await stage.get(ConfigMap, name)).data?.["config.yaml"] ?? "";
  assert.match(await config("chat"), /^model: m\n/);
  assert.match(await config("chat-canary"), /^model: other\n/);

  await untilPhase(stage, "Analyzing 1");
  const second = await statusOf(stage);
  assert.deepEqual([second.canary?.weight, second.canary?.replicas], [50, 4]);
  const stable = (await stage.list(Pod, "app=modeldeployment")).map(({ metadata }) => metadata.uid);
  assert.deepEqual(stable, pods, "stable replicas are not touched before the revision is promoted");

  await untilStable(stage, NEW);
  assert.match(await config("chat"), /^model: other\n/);
  assert.equal((await stage.get(Service, "chat")).spec?.selector?.["app"], "modeldeployment");
  assert.equal(await stage.condition(ModelDeployment, "chat", "Canary"), undefined);
  const reasons = (await stage.events(ModelDeployment, "chat")).map((line) => line.split(" ")[1]);
  assert.deepEqual(
    reasons.filter((reason) => reason?.startsWith("Canary")),
    ["CanaryStarted", "CanaryAdvanced", "CanaryPromoted"],
  );
};

/** With the Gateway API, weights are exact: the canary has as many replicas as its part of the load takes. */
export const weightedRoute: Scenario = async (stage) => {
  await installForeignKind(stage, HTTPRoute);
  await stage.start(operatorWithoutMetrics);
  const route = { gateway: { name: "public" } };
  await stage.apply(chat(OLD, { route }));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW, { route }));
  const weights = async () => {
    const spec = (await stage.find(HTTPRoute, "chat"))?.spec as
      | { rules: { backendRefs: { name: string; weight: number }[] }[] }
      | undefined;
    return spec?.rules[0]?.backendRefs.map(({ name, weight }) => `${name} ${weight}`).join(", ");
  };
  await stage.until("a fifth of the requests", async () => (await weights()) === "chat 80, chat-canary 20");
  assert.equal(await stage.condition(ModelDeployment, "chat", "Canary"), "True RouteWeights");
  assert.equal((await stage.get(Service, "chat")).spec?.selector?.["app"], "modeldeployment");
  assert.equal((await stage.get(Service, "chat-canary")).spec?.selector?.["app"], "modeldeployment-canary");
  await stage.until("half of the requests", async () => (await weights()) === "chat 50, chat-canary 50");
  assert.equal((await statusOf(stage)).canary?.replicas, 2);
  await untilStable(stage, NEW);
  assert.equal(await weights(), "chat 100");
  assert.equal(await stage.find(Service, "chat-canary"), undefined);
};

/** What the alert about canaries that were rolled back watches. */
async function rolledBackMetric(running: RunningOperator): Promise<string | undefined> {
  return /^llm_deployment_canary_rolled_back\{.*name="chat"\} (.*)$/m.exec(await running.metrics())?.[1];
}

/** Requests of 100 ms; servers of the new image take as long as is given. */
async function underLoad(stage: TestEnvironment, serviceTime: number) {
  const isNew = ({ spec }: Pod) => spec?.containers[0]?.image === NEW;
  const load = new SimulatedLoad(stage, {
    serviceTime: (pod) => (isNew(pod) ? serviceTime : 100),
    concurrency: 4,
    selector: "ai.example.com/deployment=chat",
  });
  const spec = { sla: { maxLatency: "300ms" }, capacity: { concurrency: 4 }, scaling: { minReplicas: 4 } };
  const running = await stage.start(llmOperatorWith(load.fetch));
  await stage.apply(chat(OLD, spec));
  await untilDeployed(stage, "chat", 4);
  load.rate = 30;
  await load.pass(2 * MINUTE);
  await stage.apply(chat(NEW, spec));
  return { load, running };
}

/** The new revision is within the SLA. */
export const withinSla: Scenario = async (stage) => {
  const { load } = await underLoad(stage, 120);
  for (let i = 0; i < 30 && (await imageOf(stage, "chat")) !== NEW; i++) await load.pass(MINUTE);
  await load.pass(5 * MINUTE);
  await untilStable(stage, NEW);
};

/** The new revision is too slow: it goes, the stable one has all requests again, and it is not tried again. */
export const tooSlow: Scenario = async (stage) => {
  const { load, running } = await underLoad(stage, 900);
  assert.equal(await rolledBackMetric(running), "0");
  for (let i = 0; i < 20 && (await phase(stage)) !== "RolledBack 0"; i++) await load.pass(MINUTE);
  const { canary: state, stableRevision } = await statusOf(stage);
  assert.equal(state?.reason, "LatencyAboveSLA");
  assert.equal(await rolledBackMetric(running), "1");
  assert.match(state?.message ?? "", /^the 95th percentile of the latency is .*% above 300ms$/);
  assert.notEqual(state?.revision, stableRevision);
  await load.pass(10 * MINUTE);
  assert.equal(await stage.find(StatefulSet, "chat-canary"), undefined);
  assert.equal(await imageOf(stage, "chat"), OLD);
  for (const [type, status] of Object.entries({
    Ready: "False",
    Progressing: "False",
    Degraded: "True",
    Stalled: "True",
  }))
    assert.equal(await stage.condition(ModelDeployment, "chat", type), `${status} CanaryRolledBack`);
  assert.equal(await stage.condition(ModelDeployment, "chat", "SLAMet"), "True WithinSLA");
  const events = await stage.events(ModelDeployment, "chat");
  assert.equal(events.filter((line) => line.startsWith("Warning CanaryRolledBack ")).length, 1, events.join("\n"));
};

/** No request, no judgment: the step lasts until enough requests were measured. */
export const unmeasured: Scenario = async (stage) => {
  const { load } = await underLoad(stage, 120);
  load.rate = 0;
  await load.pass(20 * MINUTE);
  assert.equal(await phase(stage), "Analyzing 0");
  const { conditions } = await statusOf(stage);
  assert.match(
    conditions?.find(({ type }) => type === "Ready")?.message ?? "",
    /too few requests were measured: latency$/,
  );
};

/** A revision that never becomes ready is rolled back, and tried again only as another revision. */
export const neverReady: Scenario = async (stage) => {
  unpullable(stage, UNKNOWN);
  const running = await stage.start(operatorWithoutMetrics);
  const spec = { startupTimeout: "1m" };
  await stage.apply(chat(OLD, spec));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(UNKNOWN, spec));
  await untilPhase(stage, "Starting 0");
  await untilPhase(stage, "RolledBack 0");
  const { canary: state } = await statusOf(stage);
  assert.equal(state?.reason, "ImageCannotBePulled");
  assert.match(state?.message ?? "", /^0 of 1 replicas were ready after 11m0s: the image .* cannot be pulled/);
  await stage.until(
    "its servers are gone",
    async () => (await stage.list(Pod, "app=modeldeployment-canary")).length === 0,
  );
  await stage.apply(chat(UNKNOWN, { ...spec, scaling: { maxReplicas: 8 } }));
  await stage.advance(20 * MINUTE);
  assert.equal(await phase(stage), "RolledBack 0", "the same revision is not tried again");
  assert.equal(await stage.condition(ModelDeployment, "chat", "Stalled"), "True CanaryRolledBack");
  assert.equal((await statusOf(stage)).readyReplicas, 4);
  assert.equal(await rolledBackMetric(running), "1");
  running.crash();
  await running.restart();
  await stage.until("the metric is there again", async () => (await rolledBackMetric(running)) === "1");
  await stage.apply(chat(NEWER, spec));
  await untilStable(stage, NEWER);
  assert.equal(await stage.condition(ModelDeployment, "chat", "Stalled"), undefined);
  assert.equal(await rolledBackMetric(running), "0");
};

/** Another revision during a canary starts again at the first step; the stable one ends it. */
export const changedOnTheWay: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW));
  await untilPhase(stage, "Analyzing 1");
  await stage.apply(chat(NEWER));
  await untilPhase(stage, "Analyzing 0");
  assert.equal(await imageOf(stage, "chat-canary"), NEWER);
  assert.equal(await imageOf(stage, "chat"), OLD);
  const canaries = await stage.list(Pod, "app=modeldeployment-canary");
  assert.deepEqual([...new Set(canaries.map(({ spec }) => spec?.containers[0]?.image))], [NEWER]);
  await stage.apply(chat(OLD));
  await untilStable(stage, OLD);
  const events = await stage.events(ModelDeployment, "chat");
  assert.ok(
    events.some((line) => line.startsWith("Normal CanaryAborted ")),
    events.join("\n"),
  );
};

/** Children of the stable revision that go during a canary come back as they were. */
export const repairedOnTheWay: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW, { model: "other" }));
  await untilPhase(stage, "Analyzing 0");
  const key = `${stage.namespace}/chat`;
  await stage.client.delete(Pod, `${key}-0`);
  await stage.client.delete(ConfigMap, key);
  await stage.client.delete(StatefulSet, key);
  await stage.until("the stable revision is back", async () => (await imageOf(stage, "chat")) === OLD);
  assert.match((await stage.get(ConfigMap, "chat")).data?.["config.yaml"] ?? "", /^model: m\n/);
  await untilStable(stage, NEW);
};

/** All goes with the object. */
export const deletedOnTheWay: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW));
  await untilPhase(stage, "Analyzing 0");
  await stage.client.delete(ModelDeployment, `${stage.namespace}/chat`);
  await stage.until("all is gone with it", async () => {
    const pods = await stage.list(Pod, "ai.example.com/deployment=chat");
    const records = await stage.list(ControllerRevision);
    return pods.length === 0 && records.length === 0;
  });
};

/** An operator that starts again continues where it was. */
export const restartedOnTheWay: Scenario = async (stage) => {
  const running = await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW));
  await untilPhase(stage, "Analyzing 1");
  const before = (await statusOf(stage)).canary;
  const writes = stage.writes();
  running.crash();
  await running.restart();
  await stage.advance(20_000);
  assert.deepEqual((await statusOf(stage)).canary, before);
  assert.equal(stage.writes(), writes, "nothing is written that is as it should be");
  await untilStable(stage, NEW);
};

/** A status that a replaced process writes late, when its canary is long promoted, is corrected. */
export const lateStatus: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW));
  await untilPhase(stage, "Starting 0");
  const { metadata, status } = await stage.get(ModelDeployment, "chat");
  const writer = metadata.managedFields?.find(({ operation, subresource }) => operation === "Apply" && subresource);
  await untilStable(stage, NEW);
  await stage.client.applyStatus(
    ModelDeployment,
    { metadata: { name: "chat", namespace: stage.namespace }, status },
    { fieldManager: writer!.manager!, force: true },
  );
  await untilPhase(stage, undefined);
  await untilStable(stage, NEW);
};

/** Without the record of the stable revision, nothing is replaced; without the field, the spec is rolled out. */
export const withoutCanary: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  await stage.apply(chat(OLD));
  await untilDeployed(stage, "chat", 4);
  await stage.apply(chat(NEW));
  await untilPhase(stage, "Analyzing 0");
  const { stableRevision: lost } = await statusOf(stage);
  await stage.client.delete(ControllerRevision, `${stage.namespace}/chat-revision-${lost}`);
  await stage.until(
    "the loss is reported",
    async () => (await stage.condition(ModelDeployment, "chat", "Ready")) === "False RevisionLost",
  );
  assert.equal(await imageOf(stage, "chat"), OLD);
  await stage.client.patch(ModelDeployment, `${stage.namespace}/chat`, { merge: { spec: { rollout: null } } } as never);
  await untilDeployed(stage, "chat", 4);
  assert.equal(await imageOf(stage, "chat"), NEW);
  assert.equal(await stage.find(StatefulSet, "chat-canary"), undefined);
  const { canary: state, stableRevision } = await statusOf(stage);
  assert.deepEqual([state, stableRevision], [undefined, undefined]);
  assert.equal((await stage.list(ControllerRevision, "!app")).length, 0);
};

/** The example of the README, as it is. */
export const canaryExample: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const [object] = readmeObjects("Canary rollouts");
  await stage.apply(object!);
  await untilDeployed(stage, "careful", 2);
  const { spec, status } = await stage.get(ModelDeployment, "careful");
  assert.deepEqual(spec.rollout?.canary, { stepWeights: [5, 25, 50], interval: "10m", maxErrorRate: 1 });
  assert.ok(await stage.find(ControllerRevision, `careful-revision-${status?.stableRevision}`));
};
