import assert from "node:assert/strict";
import { test } from "node:test";
import { onEmbedded, replay } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { ConfigMap, CustomResourceDefinition, Pod, Service } from "konverge/kinds";
import { endAll, endWorker, job, statusOf, untilPhase } from "./jobs.ts";
import { aJobRuns } from "./lifecycle-scenarios.ts";

onEmbedded("children that are deleted or edited by hand are repaired", async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("held", { hyperparameters: { depth: 3 } }));
  await untilPhase(stage, "held", "Running");
  const key = (name: string) => `${stage.namespace}/${name}`;
  await stage.client.delete(Service, key("held-workers"));
  await stage.client.patch(ConfigMap, key("held-hyperparameters"), { merge: { data: { depth: "9" } } });
  await stage.until("both are back", async () => {
    const { data } = await stage.get(ConfigMap, "held-hyperparameters");
    return data?.["depth"] === "3" && (await stage.find(Service, "held-workers")) !== undefined;
  });
  await stage.client.patch(Service, key("held-workers"), { merge: { spec: { publishNotReadyAddresses: false } } });
  await stage.until("it is repaired", async () => {
    return (await stage.get(Service, "held-workers")).spec?.publishNotReadyAddresses === true;
  });
  const { attempt } = await statusOf(stage, "held");
  assert.equal(attempt, 0);
  await stage.client.delete(Pod, key("held-worker-0"), { gracePeriodSeconds: 0 });
  await stage.until("the gang is whole again", async () => {
    const status = await statusOf(stage, "held");
    return status.attempt === 1 && status.active === 2;
  });
});

test("a worker whose pod went while the operator was cut off keeps its name", async () => {
  const { faults, failure, endState } = await replay(aJobRuns, {
    faults: [
      { type: "node lost", at: { on: "end", what: "", nth: 1 } },
      {
        type: "missed events",
        at: { on: "event", what: "MODIFIED pods/runs-worker-1", nth: 5 },
        ms: 60_000,
        expired: true,
      },
    ],
    seed: 12_750_781,
  });
  assert.equal(failure, undefined);
  assert.equal(faults.length, 2, "both faults happened");
  const pods = [...(endState?.keys() ?? [])].filter((key) => key.startsWith("Pod "));
  assert.deepEqual(pods, ["Pod runs-worker-0", "Pod runs-worker-1"]);
});

onEmbedded("an API server that fails now and then only delays", async (stage) => {
  await stage.start(trainingOperator);
  let count = 0;
  stage.injectFault(async (request, next) => {
    count++;
    if (count % 3 !== 0) return next(request);
    if (count % 2 === 0) await next(request);
    throw Object.assign(new Error("connection reset"), { code: "ECONNRESET" });
  });
  await stage.apply(job("shaky", { workers: 3, checkpointDir: "/c", checkpointVolume: { size: "1Gi" } }));
  await untilPhase(stage, "shaky", "Running");
  await endWorker(stage, "shaky-worker-2", 1);
  await stage.until("it has restarted", async () => {
    const status = await statusOf(stage, "shaky");
    return status.restarts === 1 && status.phase === "Running";
  });
  await endAll(stage, "shaky");
  await untilPhase(stage, "shaky", "Succeeded");
  assert.equal((await statusOf(stage, "shaky")).restarts, 1);
});

for (const phase of ["Pending", "Suspended", "Running", "Restarting", "Succeeded", "Failed"] as const) {
  onEmbedded(`a job that is deleted while it is ${phase} goes, and all of it`, async (stage) => {
    await stage.start(trainingOperator);
    const pending = phase === "Pending" ? { nodeSelector: { no: "node" } } : {};
    const suspended = phase === "Suspended" ? { suspend: true } : {};
    const never = phase === "Failed" ? { restartPolicy: "Never" } : {};
    await stage.apply(job("gone", { ...pending, ...suspended, ...never, hyperparameters: { depth: 1 } }));
    if (phase === "Pending" || phase === "Suspended") await untilPhase(stage, "gone", "Pending");
    else await untilPhase(stage, "gone", "Running");
    if (phase === "Restarting" || phase === "Failed") await endWorker(stage, "gone-worker-0", 1);
    if (phase === "Restarting") {
      await stage.until("it restarts", async () => {
        return (await stage.condition(TrainingJob, "gone", "Restarting"))?.startsWith("True") ?? false;
      });
    }
    if (phase === "Succeeded") await endAll(stage, "gone");
    if (phase === "Succeeded" || phase === "Failed") await untilPhase(stage, "gone", phase);
    await stage.client.delete(TrainingJob, `${stage.namespace}/gone`);
    await stage.settled();
    assert.equal(await stage.find(TrainingJob, "gone"), undefined);
    const left = [
      ...(await stage.list(Pod)),
      ...(await stage.list(Service)),
      await stage.find(ConfigMap, "gone-hyperparameters"),
    ];
    assert.deepEqual(left, [undefined]);
  });
}

onEmbedded("deleting the CRD deletes its jobs, and the operator does not mind", async (stage) => {
  const operator = await stage.start(trainingOperator);
  await stage.apply(job("last"));
  await untilPhase(stage, "last", "Running");
  await stage.client.delete(CustomResourceDefinition, "trainingjobs.ml.example.com");
  await stage.until("the CRD is gone", async () => {
    return (await stage.find(CustomResourceDefinition, "trainingjobs.ml.example.com")) === undefined;
  });
  await stage.until("the pods are gone", async () => (await stage.list(Pod)).length === 0);
  await stage.install(trainingOperator);
  await stage.apply(job("next"));
  await untilPhase(stage, "next", "Running");
  await operator.stop();
});

onEmbedded("a job that is gone before its finalizer is stored is ignored quietly", async (stage) => {
  const { warnings } = await stage.start(trainingOperator);
  let deleted = false;
  stage.injectFault(async (request, next) => {
    if (!deleted && request.method === "PATCH" && request.path.includes("/trainingjobs/brief?")) {
      deleted = true;
      await stage.cluster!.client.delete(TrainingJob, `${stage.namespace}/brief`);
    }
    return next(request);
  });
  await stage.apply(job("brief"));
  await stage.until("it is deleted", () => deleted);
  await stage.settled();
  assert.equal(await stage.find(TrainingJob, "brief"), undefined);
  assert.deepEqual(warnings, []);
});
