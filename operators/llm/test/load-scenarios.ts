import assert from "node:assert/strict";
import { llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import { type Scenario, SimulatedLoad, type TestEnvironment } from "@konverge/operator-suite";
import { StatefulSet } from "konverge/kinds";
import { deployment, untilDeployed } from "./model-deployment-scenarios.ts";

const MINUTE = 60_000;
const SLA = 0.25;

/** Requests of 100 ms, four at a time on each of two replicas; the promise is that 95 % are answered within 250 ms. */
async function measured(
  stage: TestEnvironment,
  downAfter: string,
): Promise<{ load: SimulatedLoad; size(): Promise<number> }> {
  const load = new SimulatedLoad(stage, { serviceTime: 100, concurrency: 4, selector: "app=modeldeployment" });
  await stage.start(llmOperatorWith(load.fetch));
  await stage.apply(
    deployment("chat", {
      model: "m",
      replicas: 2,
      gpuCount: 0,
      sla: { maxLatency: "250ms" },
      capacity: { concurrency: 4 },
      scaling: { minReplicas: 2, maxReplicas: 12, downAfter },
    }),
  );
  await untilDeployed(stage, "chat", 2);
  return { load, size: async () => (await stage.get(StatefulSet, "chat")).spec?.replicas ?? 0 };
}

/** Replicas follow the load through an hour, the SLA holds, and the size does not flap. */
export const follows: Scenario = async (stage) => {
  const { load, size } = await measured(stage, "5m");
  const sizes: number[] = [];
  const hold = async (rate: number, minutes: number) => {
    load.rate = rate;
    // Three minutes to notice, to start replicas and to work off what has queued up.
    await load.pass(3 * MINUTE);
    for (let i = 3; i < minutes; i++) {
      await load.pass(MINUTE);
      const latency = load.latency(MINUTE, 0.95);
      assert.ok(latency <= SLA, `at ${rate} requests/s and ${await size()} replicas, 95% took up to ${latency} s`);
    }
    sizes.push(await size());
  };
  await hold(20, 8);
  await hold(150, 8);
  await hold(150, 8);
  await hold(40, 14);
  await hold(40, 8);

  const [calm, busy, stillBusy, calmer, stillCalm] = sizes as [number, number, number, number, number];
  assert.ok(busy > calm, `150 requests/s take more than 20: ${sizes}`);
  assert.ok(calmer < busy, `40 requests/s take fewer than 150: ${sizes}`);
  assert.deepEqual([stillBusy, stillCalm], [busy, calmer], "a load that stays keeps the size");
  assert.ok(busy <= 8, `fifteen busy slots on average do not take more than eight replicas: ${sizes}`);

  const { status } = await stage.get(ModelDeployment, "chat");
  const directions = (status?.decisions ?? []).slice(1).map(({ from, to }) => Math.sign(to - from));
  const turns = directions.filter((direction, i) => i > 0 && direction !== directions[i - 1]).length;
  assert.ok(turns <= 2, `it follows the load and does not flap: ${JSON.stringify(status?.decisions)}`);
  assert.ok(status?.decisions?.every(({ message }) => message.length > 0));
  assert.equal(await stage.condition(ModelDeployment, "chat", "SLAMet"), "True WithinSLA");
  const events = await stage.events(ModelDeployment, "chat");
  assert.ok(
    events.some((line) => line.startsWith("Normal ScaledUp")),
    events.join("\n"),
  );
};

/** Within minutes: more load than two replicas can take makes them more; little load makes them fewer. */
export const risesAndFalls: Scenario = async (stage) => {
  const { load, size } = await measured(stage, "15s");
  load.rate = 100;
  await stage.until("there are more replicas", async () => {
    await load.pass(5_000);
    return (await size()) > 2;
  });
  const busy = await size();
  load.rate = 5;
  await stage.until("fewer are enough", async () => {
    await load.pass(5_000);
    return (await size()) < busy;
  });
  const events = await stage.events(ModelDeployment, "chat");
  for (const reason of ["ScaledUp", "ScaledDown"])
    assert.ok(
      events.some((line) => line.startsWith(`Normal ${reason} `)),
      events.join("\n"),
    );
};

/** Without a metrics adapter for the autoscaler, the deployment is still scaled down to the needed size after a burst. */
export const comesDown: Scenario = async (stage) => {
  const { load, size } = await measured(stage, "15s");
  load.rate = 150;
  await stage.until("there are many", async () => {
    await load.pass(5_000);
    return (await size()) >= 5;
  });
  load.rate = 60;
  await load.pass(5 * MINUTE);
  const { status } = await stage.get(ModelDeployment, "chat");
  assert.equal(await size(), status?.neededReplicas);
  assert.ok((await size()) < 5, `${await size()} replicas`);
};

/**
 * The same without a minimum: a burst makes one replica as many as its load takes, and not more for the queue that it leaves; then
 * there is one again.
 */
export const burst: Scenario = async (stage) => {
  const load = new SimulatedLoad(stage, { serviceTime: 100, concurrency: 4, selector: "app=modeldeployment" });
  await stage.start(llmOperatorWith(load.fetch));
  const sla = { maxLatency: "250ms" };
  const capacity = { concurrency: 4 };
  const scaling = { maxReplicas: 12, downAfter: "60s" };
  await stage.apply(deployment("chat", { model: "m", gpuCount: 0, sla, capacity, scaling }));
  await untilDeployed(stage, "chat", 1);
  const largest = async (rate: number, minutes: number) => {
    load.rate = rate;
    let most = 0;
    for (let i = 0; i < 4 * minutes; i++) {
      await load.pass(MINUTE / 4);
      most = Math.max(most, (await stage.get(StatefulSet, "chat")).spec?.replicas ?? 0);
    }
    return most;
  };
  assert.equal(await largest(5, 1), 1);
  const busy = await largest(150, 10);
  assert.ok(busy >= 5 && busy <= 6, `fifteen busy slots on average took up to ${busy} replicas`);
  assert.ok(load.latency(MINUTE, 0.95) <= SLA, "the queue is worked off");
  await largest(5, 4);
  assert.equal(await largest(5, 1), 1);
};
