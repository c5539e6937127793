import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Event, Pod } from "@konverge/kinds";
import { RayCluster, RayJob } from "@konverge/ray-operator";
import { ray } from "./images/ray.ts";
import { NodeCluster } from "./node-cluster.ts";
import { rayTemplate } from "./ray-clusters.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "science";
/** Sums up what tasks return, and prints it with a variable of its runtime environment, and where it runs. */
const SUM = `
import os, socket, ray
ray.init()
square = ray.remote(lambda number: number * number)
total = sum(ray.get([square.remote(number) for number in range(10)]))
print(os.environ["NAME"], total, "on", socket.gethostname(), "in", os.getcwd())`;
/** Counts how often it is started, and runs until there is a file. */
const WAIT = 'echo run >> /tmp/runs; echo "run $(wc -l < /tmp/runs)"; until test -e /tmp/enough; do sleep 1; done';

/** Jobs that are submitted to Ray itself, each on a dedicated cluster. */
describe("ray jobs on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-ray-jobs", images: [ray] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("ray-operator", "operators");
  });
  after(async () => await cluster?.stop());

  const create = (name: string, spec: object) =>
    cluster.client.create(RayJob, {
      metadata: { name, namespace: NAMESPACE },
      // As a user writes it: fields with defaults are left to the server.
      spec: {
        rayClusterSpec: {
          headGroupSpec: { template: rayTemplate("ray-head") },
          workerGroupSpecs: [{ groupName: "small", replicas: 1, template: rayTemplate("ray-worker") }],
        },
        ...spec,
      } as unknown as RayJob["spec"],
    });
  const statusOf = async (name: string) => (await cluster.client.get(RayJob, `${NAMESPACE}/${name}`)).status;
  const hasEnded = (name: string, seconds: number) =>
    until(`${name} has ended`, seconds, async () => {
      const status = await statusOf(name);
      if (status?.jobDeploymentStatus === "Complete" || status?.jobDeploymentStatus === "Failed") return status;
      throw new Error(JSON.stringify(status));
    });
  const clusters = async () =>
    (await cluster.client.list(RayCluster, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name);
  const clustersGo = (seconds: number) =>
    until("no cluster is left", seconds, async () => ((await clusters()).length === 0 ? true : undefined));
  /** The pod that submits a try, or did it last. */
  const submitter = async (job: string) => {
    const labelSelector = `batch.kubernetes.io/job-name=${job}`;
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector });
    const [only, ...others] = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    assert.ok(only && others.length === 0, "one pod submits it");
    return `${NAMESPACE}/${only.metadata.name}`;
  };
  const log = async (job: string) => await cluster.log(await submitter(job));

  test("a job succeeds, and its cluster is deleted when its time is over", async (t) => {
    const run = async () => {
      await create("sum", {
        entrypoint: `cd /usr && python -c '${SUM}'`,
        runtimeEnvYAML: "env_vars: { NAME: the sum is }",
        ...{ shutdownAfterJobFinishes: true, ttlSecondsAfterFinished: 20 },
      });
      const { jobStatus, message } = await hasEnded("sum", 300);
      assert.equal(jobStatus, "SUCCEEDED", message);
    };
    t.diagnostic(`succeeded after ${await timed(run)} s`);
    assert.deepEqual(await clusters(), ["sum-0"], "the cluster stays for its time");
    t.diagnostic(`its cluster is gone ${await timed(() => clustersGo(120))} s later`);
    const lines = await log("sum-0");
    assert.ok(lines.includes("the sum is 285 on sum-0-head-0 in /usr"), lines.join("\n"));
  });

  test("a submitting pod that is lost is replaced, and its successor joins the job", async (t) => {
    await create("long", { entrypoint: WAIT, shutdownAfterJobFinishes: true });
    const isFollowed = (seconds: number) =>
      until("the log is followed", seconds, async () => ((await log("long-0")).includes("run 1") ? true : undefined));
    await isFollowed(300);
    const lost = await submitter("long-0");
    const join = async () => {
      await cluster.client.delete(Pod, lost, { gracePeriodSeconds: 0 });
      await isFollowed(120);
    };
    t.diagnostic(`followed again after ${await timed(join)} s`);
    assert.notEqual(await submitter("long-0"), lost);
    await (await cluster.client.exec(`${NAMESPACE}/long-0-head-0`, ["touch", "/tmp/enough"])).output();
    const { jobStatus, message } = await hasEnded("long", 120);
    assert.equal(jobStatus, "SUCCEEDED", message);
    const runs = (await log("long-0")).filter((line) => line.startsWith("run "));
    assert.deepEqual(runs, ["run 1"], "it ran once");
    await clustersGo(120);
  });

  test("a job that fails is tried again on another cluster", async (t) => {
    const run = async () => {
      await create("broken", {
        entrypoint: `python -c 'import sys; print("broken", flush=True); sys.exit(3)'`,
        ...{ backoffLimit: 1, shutdownAfterJobFinishes: true },
      });
      const { jobStatus, reason, failed, rayClusterName } = await hasEnded("broken", 500);
      assert.deepEqual(
        { jobStatus, reason, failed, rayClusterName },
        { jobStatus: "FAILED", reason: "AppFailed", failed: 2, rayClusterName: "broken-1" },
      );
    };
    t.diagnostic(`failed after ${await timed(run)} s`);
    t.diagnostic(`no cluster is left ${await timed(() => clustersGo(120))} s later`);
    assert.ok((await log("broken-1")).includes("broken"), "the log has the job's output");
    const { items } = await cluster.client.list(Event, { namespace: NAMESPACE });
    const events = items.filter(({ involvedObject }) => involvedObject.name === "broken").map(({ reason }) => reason);
    assert.ok(events.includes("AppFailed"), events.join());
  });
});
