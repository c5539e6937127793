import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsFor } from "./mpi-children.ts";
import { MPIJob } from "./mpi-job.ts";

const firstHost = (spec: object, pod: object = {}) => {
  const container = { name: "main", image: "i" };
  const job = MPIJob.new({
    metadata: { name: "pi", namespace: "ml" },
    spec: {
      runLauncherAsWorker: true,
      mpiReplicaSpecs: {
        Launcher: { template: { spec: { containers: [container], ...pod } } },
        Worker: { replicas: 1, template: { spec: { containers: [container] } } },
      },
      ...spec,
    } as never,
  }) as unknown as MPIJob;
  return hostsFor(job, [], undefined).data?.["hostfile"]?.split("\n")[0];
};

test("Open MPI gets the launcher under the name in its /etc/hosts, which it knows before the DNS does", () => {
  assert.equal(firstHost({}), "pi-launcher slots=1");
  assert.equal(firstHost({}, { hostNetwork: true }), "pi-launcher.pi.ml.svc slots=1");
  assert.equal(firstHost({ mpiImplementation: "Intel" }), "pi-launcher.pi.ml.svc:1");
});
