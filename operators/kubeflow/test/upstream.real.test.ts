import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { JobObject } from "@konverge/kubeflow-operator";
import type { KindRef } from "konverge";
import { job, type Kind, MXNET, PYTORCH, type ReplicaWish, sample, TENSORFLOW, XGBOOST } from "./jobs.ts";
import { arena, whyNoArena } from "./upstream/arena.ts";
import {
  DELETED_JOB,
  type Difference,
  FATAL_EXIT_CODE,
  SEEN_LEAVING,
  SELECTORS,
  STALLED_TOO,
} from "./upstream/differences.ts";
import { Duel } from "./upstream/duel.ts";

describe("beside upstream's operator", { skip: whyNoArena(), concurrency: 2 }, () => {
  const open = arena();
  const duel = (kind: Kind, name: string, ...differences: Difference[]) =>
    new Duel(open().client, open().sides, { kind: kind.kind as KindRef<JobObject>, name }, differences);
  const begin = async (
    kind: Kind,
    name: string,
    replicas: Readonly<Record<string, ReplicaWish>>,
    spec: object = {},
    ...differences: Difference[]
  ) => {
    const one = duel(kind, name, ...differences);
    await one.apply(job(kind, name, replicas, spec));
    await one.agree({ state: "Created" });
    return one;
  };

  describe("PyTorchJob", { concurrency: 3 }, () => {
    test("a master and workers: made, running, done when the master is", async () => {
      const one = duel(PYTORCH, "pytorch-dist-mnist", SELECTORS);
      await one.apply(readFileSync(new URL("../tutorial/pytorch-dist-mnist.yaml", import.meta.url), "utf8"));
      const workers = ["worker-0", "worker-1", "worker-2"];
      const pods = (master: string, worker: string) => [
        `master-0 ${master}`,
        ...workers.map((one) => `${one} ${worker}`),
      ];
      await one.agree({ state: "Created", pods: pods("Pending", "Pending") });
      await one.run("worker-0");
      await one.run("master-0", "worker-1", "worker-2");
      await one.agree({ state: "Running", pods: pods("Running", "Running") });
      await one.end(0, "master-0");
      await one.agree({ state: "Succeeded", pods: pods("Succeeded", "Running") });
    });

    test("a worker that fails is made anew", async () => {
      const one = await begin(PYTORCH, "torch-again", { Master: {}, Worker: { replicas: 2 } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "worker-1");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running", "worker-1 Pending"] });
      await one.run("worker-1");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running", "worker-1 Running"] });
    });

    test("a worker that is deleted is made anew", async () => {
      const one = await begin(PYTORCH, "torch-deleted", { Master: {}, Worker: {} }, {}, SEEN_LEAVING);
      await one.run();
      await one.agree({ state: "Running" });
      await one.deletePods("worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
    });

    test("a worker that must not be restarted fails the job, and what runs is cleaned up", async () => {
      const replicas = { Master: { restartPolicy: "Never" }, Worker: { replicas: 2, restartPolicy: "Never" } };
      const one = await begin(
        PYTORCH,
        "torch-fails",
        replicas,
        { runPolicy: { cleanPodPolicy: "Running" } },
        SELECTORS,
      );
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(2, "worker-0");
      await one.agree({ state: "Failed", pods: ["worker-0 Failed"] });
    });

    test("exit codes decide", async () => {
      const replicas = { Master: { restartPolicy: "ExitCode" }, Worker: { restartPolicy: "ExitCode" } };
      const one = await begin(PYTORCH, "torch-codes", replicas, {}, ...FATAL_EXIT_CODE);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(137, "worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
      await one.run("worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running"] });
      await one.end(3, "worker-0");
      await one.agree({ state: "Failed", pods: ["master-0 Running", "worker-0 Failed"] });
    });

    test("suspended and resumed", async () => {
      const one = await begin(PYTORCH, "torch-rests", { Master: {}, Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.patch({ runPolicy: { suspend: true } });
      await one.agree({ state: "Suspended", pods: [] });
      await one.patch({ runPolicy: { suspend: false } });
      await one.agree({ state: "Suspended", pods: ["master-0 Pending", "worker-0 Pending"] });
      await one.run();
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running"] });
    });

    test("suspended from the beginning", async () => {
      const one = duel(PYTORCH, "torch-sleeps");
      await one.apply(job(PYTORCH, "torch-sleeps", { Master: {} }, { runPolicy: { suspend: true } }));
      await one.agree({ state: "Suspended", pods: [] });
    });

    test("too many restarts of containers end the job and all its pods", async () => {
      const one = await begin(
        PYTORCH,
        "torch-backs-off",
        { Master: {}, Worker: {} },
        { runPolicy: { backoffLimit: 2 } },
      );
      await one.run();
      await one.agree({ state: "Running" });
      await one.restarted(1, "worker-0");
      await one.agree({ state: "Running" });
      await one.restarted(2, "worker-0");
      await one.agree({ state: "Failed", pods: [] });
    });

    test("a job that takes too long ends", async () => {
      const one = duel(PYTORCH, "torch-late");
      const spec = { runPolicy: { activeDeadlineSeconds: 5, cleanPodPolicy: "None" } };
      await one.apply(job(PYTORCH, "torch-late", { Master: {} }, spec));
      // Upstream does not look at the time by itself: something has to happen.
      await one.shakenUntil("Failed");
      await one.agree({ state: "Failed", pods: [] });
    });

    test("an elastic job without a master: variables, autoscaler, scaling, done when the first worker is", async () => {
      const one = duel(PYTORCH, "resnet-elastic", SELECTORS);
      await one.apply(sample("02-pytorchjob-elastic.yaml"));
      await one.agree({ state: "Created", pods: ["worker-0 Pending", "worker-1 Pending"] });
      await one.run();
      await one.agree({ state: "Running" });
      await one.patch({ pytorchReplicaSpecs: { Worker: { replicas: 3 } } });
      await one.agree({ state: "Running", pods: ["worker-0 Running", "worker-1 Running", "worker-2 Pending"] });
      await one.patch({ pytorchReplicaSpecs: { Worker: { replicas: 1 } } });
      await one.agree({ state: "Running", pods: ["worker-0 Running"] });
      await one.end(0, "worker-0");
      await one.agree({ state: "Succeeded", pods: ["worker-0 Succeeded"] });
    });

    test("everything that users write besides stays", async () => {
      const pod = (env: object[]) => ({
        metadata: { labels: { team: "vision" }, annotations: { "example.com/a": "b" } },
        spec: {
          restartPolicy: "Always",
          initContainers: [{ name: "first", image: "example.com/first:1" }],
          containers: [
            { name: "side", image: "example.com/side:1", ports: [{ name: "http", containerPort: 8080 }] },
            {
              name: "pytorch",
              image: "example.com/train:1",
              env,
              ports: [
                { name: "metrics", containerPort: 9000 },
                { name: "pytorchjob-port", containerPort: 1234 },
              ],
            },
          ],
        },
      });
      const one = duel(PYTORCH, "torch-rich");
      await one.apply(
        job(
          PYTORCH,
          "torch-rich",
          { Master: { template: pod([{ name: "A", value: "1" }]) }, Worker: { template: pod([]) } },
          { nprocPerNode: "4" },
        ),
      );
      await one.agree({ state: "Created", pods: ["master-0 Pending", "worker-0 Pending"] });
    });

    test("what keeps a pod from starting is told", async () => {
      const one = await begin(PYTORCH, "torch-waits", { Master: {} }, {}, STALLED_TOO);
      await one.waits("ImagePullBackOff", "Back-off pulling image", "master-0");
      const { events } = await one.agree({ state: "Created" });
      const message = "Error pod torch-waits-master-0 container pytorch waiting message: Back-off pulling image";
      assert.ok(events.includes(`Warning ImagePullBackOff ${message}`), events.join("\n"));
    });

    test("a job that is over deletes itself when its time has come", async () => {
      const spec = { runPolicy: { ttlSecondsAfterFinished: 1 } };
      const one = await begin(PYTORCH, "torch-goes", { Master: {} }, spec, DELETED_JOB, SELECTORS);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "master-0");
      await one.agree({ state: "gone", pods: [] });
    });
  });

  describe("TFJob", { concurrency: 3 }, () => {
    test("all types of replicas know each other; the chief decides; all is cleaned up", async () => {
      const one = duel(TENSORFLOW, "wide-deep");
      await one.apply(sample("04-tfjob-ps.yaml").replace("ttlSecondsAfterFinished: 3600", "backoffLimit: 5"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "chief-0");
      await one.agree({ state: "Succeeded", pods: [] });
    });

    test("without a chief the first worker decides", async () => {
      const one = duel(TENSORFLOW, "dist-mnist");
      await one.apply(sample("03-tfjob.yaml"));
      await one.agree({ state: "Created", pods: ["worker-0 Pending", "worker-1 Pending"] });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-1");
      await one.agree({ state: "Running", pods: ["worker-0 Running", "worker-1 Succeeded"] });
      await one.end(0, "worker-0");
      await one.agree({ state: "Succeeded" });
    });

    test("if all workers are to be done, the first is not enough", async () => {
      const one = await begin(TENSORFLOW, "flow-all", { Worker: { replicas: 2 } }, { successPolicy: "AllWorkers" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-0");
      await one.agree({ state: "Running", pods: ["worker-0 Succeeded", "worker-1 Running"] });
      await one.end(0, "worker-1");
      await one.agree({ state: "Succeeded" });
    });

    test("one pod alone is told of no others", async () => {
      const one = await begin(TENSORFLOW, "flow-single", { Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(7, "worker-0");
      await one.agree({ state: "Failed", pods: ["worker-0 Failed"] });
    });

    test("exit codes decide", async () => {
      const replicas = { PS: {}, Worker: { replicas: 2, restartPolicy: "ExitCode" } };
      const one = await begin(TENSORFLOW, "flow-codes", replicas, {}, ...FATAL_EXIT_CODE);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(130, "worker-1");
      await one.agree({ state: "Running", pods: ["ps-0 Running", "worker-0 Running", "worker-1 Pending"] });
      await one.run("worker-1");
      await one.agree({ state: "Running", pods: ["ps-0 Running", "worker-0 Running", "worker-1 Running"] });
      await one.end(1, "worker-1");
      await one.agree({ state: "Failed" });
    });

    test("dynamic workers know of the servers and of themselves, and may fail", async () => {
      const replicas = { PS: {}, Worker: { replicas: 2 }, Evaluator: {} };
      const one = await begin(TENSORFLOW, "flow-dynamic", replicas, { enableDynamicWorker: true });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "worker-1");
      await one.agree({
        state: "Running",
        pods: ["evaluator-0 Running", "ps-0 Running", "worker-0 Running", "worker-1 Failed"],
      });
    });
  });

  describe("XGBoostJob", { concurrency: 3 }, () => {
    test("a master and workers, done when the master is", async () => {
      const one = duel(XGBOOST, "boost-dist");
      await one.apply(sample("06-xgboostjob-workers.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "master-0");
      await one.agree({ state: "Succeeded", pods: ["master-0 Succeeded"] });
    });

    test("a master alone", async () => {
      const one = duel(XGBOOST, "iris");
      await one.apply(sample("05-xgboostjob.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "master-0");
      await one.agree({ state: "Failed", pods: ["master-0 Failed"] });
    });

    test("a worker with an exit code that can be tried again is made anew", async () => {
      const one = await begin(XGBOOST, "boost-again", { Master: {}, Worker: { restartPolicy: "ExitCode" } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(255, "worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
    });

    test("suspended and resumed", async () => {
      const one = await begin(XGBOOST, "boost-rests", { Master: {}, Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.patch({ runPolicy: { suspend: true } });
      await one.agree({ state: "Suspended", pods: [] });
      await one.patch({ runPolicy: { suspend: false } });
      await one.agree({ state: "Suspended", pods: ["master-0 Pending", "worker-0 Pending"] });
    });
  });

  describe("MXJob", { concurrency: 3 }, () => {
    test("a scheduler, a server and workers, done when the scheduler is", async () => {
      const one = duel(MXNET, "mx-dist");
      await one.apply(sample("08-mxjob-dist.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "scheduler-0");
      await one.agree({ state: "Succeeded", pods: [] });
    });

    test("a worker alone", async () => {
      const one = duel(MXNET, "mx-single");
      await one.apply(sample("07-mxjob.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-0");
      await one.agree({ state: "Succeeded" });
    });

    test("a worker that fails ends the job", async () => {
      const one = await begin(MXNET, "mx-fails", { Scheduler: {}, Server: {}, Worker: { replicas: 2 } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "worker-1");
      await one.agree({ state: "Failed" });
    });
  });
});
