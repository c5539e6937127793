import assert from "node:assert/strict";
import { exactRole, onEmbedded, type Scenario, survivesCrashes } from "@konverge/operator-suite";
import { schedulerPlugins, TrainingJob, trainingOperator, volcano } from "@konverge/training-operator";
import type { AnyObject } from "konverge";
import { ConfigMap, CustomResourceDefinition, PersistentVolumeClaim, Pod, Service } from "konverge/kinds";
import { installPodGroups } from "./gang-scheduling-scenarios.ts";
import { endAll, endWorker, job, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** Nearly everything that the operator writes: children, a claim, a PodGroup, a restart, a resize, the end. */
const aFullLife: Scenario = async (stage) => {
  await installPodGroups(stage, schedulerPlugins);
  await stage.start(trainingOperator);
  await stage.apply(
    job("life", {
      hyperparameters: { depth: 3 },
      checkpointDir: "/c",
      checkpointVolume: { size: "1Gi" },
      cleanPodPolicy: "All",
    }),
  );
  await untilPhase(stage, "life", "Running");
  await endWorker(stage, "life-worker-1", 137, { message: "killed" });
  await stage.until("it has restarted", async () => {
    const status = await statusOf(stage, "life");
    return status.restarts === 1 && status.phase === "Running";
  });
  await endAll(stage, "life");
  await untilPhase(stage, "life", "Succeeded");
  await stage.until("it is cleaned up", async () => (await podsOf(stage, "life")).length === 0);
  assert.equal((await statusOf(stage, "life")).restarts, 1);
};

/** What is left to chance: which node, which volume, and who the pod was. */
const CHANCE = new Set(["podUid", "node", "volumeName"]);
const mask = (object: AnyObject): AnyObject =>
  JSON.parse(JSON.stringify(object, (key, value) => (CHANCE.has(key) ? "…" : value)));

/** KONVERGE_THOROUGH=1 crashes at every write; otherwise at some of them, other ones in each of the two scenarios. */
const thorough = process.env["KONVERGE_THOROUGH"] !== undefined;

survivesCrashes("a job ends the same, whenever the operator dies", trainingOperator, aFullLife, {
  mask,
  every: thorough ? 1 : 7,
});

/** An elastic job, suspended and resumed, that is deleted with its checkpoints. */
const anElasticLife: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(
    job("bends", {
      elastic: { minWorkers: 1, maxWorkers: 3 },
      checkpointDir: "/c",
      checkpointVolume: { size: "1Gi", onDelete: "Delete" },
    }),
  );
  await stage.until("all run", async () => (await statusOf(stage, "bends")).active === 2);
  await endWorker(stage, "bends-worker-1", 1);
  await stage.until("it is replaced", async () => {
    const status = await statusOf(stage, "bends");
    return status.restarts === 1 && status.active === 2;
  });
  const patch = (spec: object) =>
    stage.client.patch(TrainingJob, `${stage.namespace}/bends`, { merge: { spec } } as never);
  await patch({ suspend: true });
  await stage.until("it stops", async () => (await podsOf(stage, "bends")).length === 0);
  await patch({ suspend: false });
  await stage.until("it runs again", async () => (await statusOf(stage, "bends")).active === 2);
  await stage.client.delete(TrainingJob, `${stage.namespace}/bends`);
  await stage.until("all is gone", async () => {
    const left = [await stage.find(TrainingJob, "bends"), await stage.find(PersistentVolumeClaim, "bends-checkpoints")];
    return left.every((one) => !one) && (await podsOf(stage, "bends")).length === 0;
  });
};

survivesCrashes("an elastic job goes without a trace, whenever the operator dies", trainingOperator, anElasticLife, {
  mask,
  every: thorough ? 1 : 9,
});

/** What is needed once in a while: a job that deletes itself, a PodGroup that changes, a pod that lost its labels. */
const theRest: Scenario = async (stage) => {
  await installPodGroups(stage, schedulerPlugins);
  await installPodGroups(stage, volcano);
  await stage.start(trainingOperator);
  await stage.apply(job("grows", { ttlSecondsAfterFinished: 0 }));
  await untilPhase(stage, "grows", "Running");
  await stage.client.patch(TrainingJob, `${stage.namespace}/grows`, { merge: { spec: { workers: 3 } } });
  await stage.until("it has grown", async () => (await statusOf(stage, "grows")).active === 3);
  await stage.client.patch(Pod, `${stage.namespace}/grows-worker-1`, {
    merge: { metadata: { labels: { "ml.example.com/training-job": null } } },
  } as never);
  await stage.until("the gang is whole again", async () => {
    const status = await statusOf(stage, "grows");
    return status.attempt === 2 && status.active === 3;
  });
  await endAll(stage, "grows");
  await stage.until("it is gone", async () => !(await stage.find(TrainingJob, "grows")));
};

const volcanoToo: Scenario = async (stage) => {
  await installPodGroups(stage, volcano);
  await stage.start(trainingOperator, { settings: { gangScheduling: "volcano" } });
  await stage.apply(job("erupts", { scheduling: { schedulerName: "default-scheduler" } }));
  await untilPhase(stage, "erupts", "Running");
  await stage.client.patch(TrainingJob, `${stage.namespace}/erupts`, { merge: { spec: { workers: 3 } } });
  await stage.until("it has grown", async () => (await statusOf(stage, "erupts")).active === 3);
  await endAll(stage, "erupts");
  await untilPhase(stage, "erupts", "Succeeded");
  await stage.until("the PodGroup is gone", async () => !(await stage.find(volcano.kind, "erupts")));
};

exactRole(trainingOperator, [aFullLife, anElasticLife, theRest, volcanoToo]);

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

onEmbedded("an API server that fails now and then only delays", async (stage) => {
  await stage.start(trainingOperator);
  let count = 0;
  stage.disturb(async (request, next) => {
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
