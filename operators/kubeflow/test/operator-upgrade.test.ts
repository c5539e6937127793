import assert from "node:assert/strict";
import { kubeflowOperator, type MPIJob } from "@konverge/kubeflow-operator";
import { onEmbedded, type TestEnvironment } from "@konverge/operator-suite";
import type { KindRef } from "konverge";
import { Pod } from "konverge/kinds";
import { AS_WRITTEN, MPI, PYTORCH, sample, stateOf, TENSORFLOW } from "./jobs.ts";

const podIds = async (stage: TestEnvironment) =>
  (await stage.list(Pod)).map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.generation}`).sort();

/** Settings stand for another version: with these, the same jobs get other pods. */
const OTHER_PODS = { pytorchInitContainerImage: "alpine:3.22", customClusterDomain: "cluster.local" };

onEmbedded(
  "a new operator, which would create other pods, leaves those of running jobs as they are",
  async (stage) => {
    stage.cluster?.image("mpioperator/mpi-pi:openmpi", {
      async run({ stop }) {
        await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
        return 143;
      },
    });
    const first = await stage.start(kubeflowOperator);
    for (const file of ["01-pytorchjob.yaml", "03-tfjob.yaml", "09-mpijob.yaml"]) await stage.apply(sample(file));
    const jobs = async () =>
      Promise.all(
        [PYTORCH, TENSORFLOW, MPI].map(async (kind) => {
          const [job] = await stage.list(kind.kind as KindRef<MPIJob>);
          return job && stateOf(stage, kind, job.metadata.name);
        }),
      );
    const allRun = async () => (await jobs()).every((state) => state === "Running");
    await stage.until("all jobs run", allRun);
    await stage.settled();
    const before = await podIds(stage);
    await first.stop();
    await stage.start(kubeflowOperator, { settings: OTHER_PODS });
    await stage.settled();
    await stage.advance(600_000);
    assert.deepEqual(await podIds(stage), before);
    assert.ok(await allRun());
    const worker = before.find((id) => /worker-0 /.test(id) && id.startsWith("fashion-mnist"))!.split(" ")[0]!;
    await stage.client.delete(Pod, `${stage.namespace}/${worker}`);
    await stage.until("a replaced pod is as the new operator creates it", async () => {
      const pod = await stage.find(Pod, worker);
      return pod?.spec?.initContainers?.[0]?.image === OTHER_PODS.pytorchInitContainerImage;
    });
  },
  AS_WRITTEN,
);
