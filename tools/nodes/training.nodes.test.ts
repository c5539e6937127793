import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { isNotFound } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { TrainingJob } from "@konverge/training-operator";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "training";
const PROGRAM = readFileSync(new URL("programs/train.py", import.meta.url), "utf8");
const ELASTIC = readFileSync(new URL("programs/elastic.py", import.meta.url), "utf8");

/** Enough for the logs to be read twice. */
const STEPS = 1200;

/** A training by processes that meet over the headless Service of their job. */
describe("training on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-training", images: [python] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    await cluster.sharedVolume(NAMESPACE, "checkpoints");
    cluster.deploy("training-operator", "operators");
  });
  after(async () => await cluster?.stop());

  const get = (name: string) => cluster.client.get(TrainingJob, `${NAMESPACE}/${name}`);
  const create = (name: string, spec: Record<string, unknown>) => {
    const common = { framework: "pytorch", image: "python:3.11-slim", command: ["python3", "-c", PROGRAM] };
    return cluster.client.create(TrainingJob, {
      metadata: { name, namespace: NAMESPACE },
      // As a user writes it: fields with defaults are left to the server.
      spec: { ...common, ...spec } as unknown as TrainingJob["spec"],
    });
  };
  const logOf = async (pod: string) => (await cluster.log(`${NAMESPACE}/${pod}`)).join("\n");
  const ends = (name: string, phase: string) =>
    until(`${name} is ${phase}`, 180, async () => {
      const { status } = await get(name);
      if (status?.phase === phase) return status;
      throw new Error(JSON.stringify(status));
    });

  test("ranks on two nodes meet over the headless Service and train together", async (t) => {
    t.diagnostic(
      `trained in ${await timed(async () => await create("line", { workers: 4 }).then(() => ends("line", "Succeeded")))} s`,
    );
    assert.match(await logOf("line-worker-0"), /ends with 3\.000 x \+ 2\.000/);
    assert.match(await logOf("line-worker-3"), /rank 3 of 4 begins/);
    const { workerStatuses = [] } = (await get("line")).status ?? {};
    assert.equal(new Set(workerStatuses.map(({ node }) => node)).size, 2, "workers ran on both nodes");
  });

  test("a killed worker restarts the gang once, and it goes on from its checkpoint", async (t) => {
    await create("resumed", {
      workers: 3,
      hyperparameters: { steps: STEPS, pause: 0.1 },
      checkpointDir: "/checkpoints",
      checkpointVolume: { claimName: "checkpoints" },
    });
    // Logs are read every 30 seconds; the speed is known after the second time.
    const { progress, lastCheckpoint } = await until("the end is estimated from the logs", 180, async () => {
      const { status } = await get("resumed");
      return status?.progress?.estimatedCompletionTime ? status : undefined;
    });
    assert.equal(progress?.totalSteps, STEPS);
    const saved = lastCheckpoint?.step ?? 0;
    assert.ok(saved > 5, `the last checkpoint is that of step ${saved}`);
    t.diagnostic(`at step ${progress?.step} of ${STEPS}: ${progress?.stepsPerSecond?.toFixed(1)} steps per second`);
    await cluster.killContainer(`${NAMESPACE}/resumed-worker-2`, "trainer");
    const recovered = await timed(async () => {
      await until("the gang trains again", 180, async () => {
        const { metadata } = await cluster.client.get(Pod, `${NAMESPACE}/resumed-worker-2`);
        const isNew = metadata.labels?.["ml.example.com/attempt"] === "1";
        return isNew && (await logOf("resumed-worker-2")).includes("begins at step") ? true : undefined;
      });
    });
    const [, begun] = /begins at step (\d+)/.exec(await logOf("resumed-worker-2")) ?? [];
    assert.ok(Number(begun) >= saved, `it begins at step ${begun}, with a checkpoint of step ${saved}`);
    t.diagnostic(`trains again after ${recovered} s, from step ${begun}`);
    const { restarts, failure } = await ends("resumed", "Succeeded");
    assert.equal(restarts, 1, "the gang counts once");
    assert.deepEqual([failure?.podName, failure?.exitCode], ["resumed-worker-2", 137]);
  });

  test("an elastic job grows and shrinks while it runs, and replaces a worker that is killed", async (t) => {
    const bounds = { minWorkers: 2, maxWorkers: 4 };
    await create("elastic", { workers: 2, elastic: bounds, command: ["python3", "-c", ELASTIC] });
    const first = `${NAMESPACE}/elastic-worker-0`;
    const hasSize = (size: number) =>
      until(`a group of ${size}`, 120, async () =>
        (await cluster.log(first)).at(-1) === `group of ${size}` ? true : undefined,
      );
    await hasSize(2);
    const { uid } = (await cluster.client.get(Pod, first)).metadata;
    const resize = (workers: number) =>
      cluster.client.patch(TrainingJob, `${NAMESPACE}/elastic`, { merge: { spec: { workers } } });
    t.diagnostic(`grown in ${await timed(async () => await resize(4).then(() => hasSize(4)))} s`);
    const replaced = async () => {
      await cluster.killContainer(`${NAMESPACE}/elastic-worker-2`, "trainer");
      await hasSize(3);
      await hasSize(4);
    };
    t.diagnostic(`a killed worker is replaced in ${await timed(replaced)} s`);
    assert.equal((await cluster.client.get(Pod, first)).metadata.uid, uid, "the others go on");
    await resize(2);
    await ends("elastic", "Succeeded");
    assert.match(await logOf("elastic-worker-0"), /group of 2\nthe group ends$/);
  });

  test("an exit code that is no signal ends a job with restartPolicy ExitCode, and its time to live deletes it", async () => {
    await create("broken", {
      workers: 2,
      command: ["python3", "-c", "import os, sys; sys.exit(3 if os.environ['RANK'] == '1' else 0)"],
      restartPolicy: "ExitCode",
      ttlSecondsAfterFinished: 5,
    });
    const { restarts, failure } = await ends("broken", "Failed");
    assert.equal(restarts ?? 0, 0);
    assert.deepEqual([failure?.podName, failure?.exitCode], ["broken-worker-1", 3]);
    await until("the job is deleted", 60, async () =>
      get("broken").then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : undefined),
      ),
    );
    await until("its pods are deleted", 60, async () => {
      const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE });
      return items.some(({ metadata }) => metadata.name!.startsWith("broken-")) ? undefined : true;
    });
  });
});
