import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe } from "node:test";
import { job, MXNET, PYTORCH, sample, TENSORFLOW, XGBOOST } from "./jobs.ts";
import { arena, whyNoArena } from "./upstream/arena.ts";
import { bout } from "./upstream/bout.ts";
import {
  DELETED_JOB,
  FATAL_EXIT_CODE,
  OBSERVED_LEAVING,
  SELECTORS,
  STALLED_CONDITION,
} from "./upstream/differences.ts";

describe("beside upstream's operator", { skip: whyNoArena(), concurrency: 2 }, () => {
  const open = arena();
  describe("PyTorchJob", { concurrency: 3 }, () => {
    bout("a master and workers: made, running, done when the master is", open, async (ring) => {
      const one = ring.duel(PYTORCH, "pytorch-dist-mnist", SELECTORS);
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

    bout("a worker that fails is made anew", open, async (ring) => {
      const one = await ring.begin(PYTORCH, "torch-again", { Master: {}, Worker: { replicas: 2 } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "worker-1");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running", "worker-1 Pending"] });
      await one.run("worker-1");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running", "worker-1 Running"] });
    });

    bout("a worker that is deleted is made anew", open, async (ring) => {
      const one = await ring.begin(PYTORCH, "torch-deleted", { Master: {}, Worker: {} }, {}, OBSERVED_LEAVING);
      await one.run();
      await one.agree({ state: "Running" });
      await one.deletePods("worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
    });

    bout("a worker that must not be restarted fails the job, and what runs is cleaned up", open, async (ring) => {
      const replicas = { Master: { restartPolicy: "Never" }, Worker: { replicas: 2, restartPolicy: "Never" } };
      const one = await ring.begin(
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

    bout("exit codes decide", open, async (ring) => {
      const replicas = { Master: { restartPolicy: "ExitCode" }, Worker: { restartPolicy: "ExitCode" } };
      const one = await ring.begin(PYTORCH, "torch-codes", replicas, {}, ...FATAL_EXIT_CODE);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(137, "worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
      await one.run("worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running"] });
      await one.end(3, "worker-0");
      await one.agree({ state: "Failed", pods: ["master-0 Running", "worker-0 Failed"] });
    });

    bout("suspended and resumed", open, async (ring) => {
      const one = await ring.begin(PYTORCH, "torch-rests", { Master: {}, Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.patch({ runPolicy: { suspend: true } });
      await one.agree({ state: "Suspended", pods: [] });
      await one.patch({ runPolicy: { suspend: false } });
      await one.agree({ state: "Suspended", pods: ["master-0 Pending", "worker-0 Pending"] });
      await one.run();
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Running"] });
    });

    bout("suspended from the beginning", open, async (ring) => {
      const one = ring.duel(PYTORCH, "torch-sleeps");
      await one.apply(job(PYTORCH, "torch-sleeps", { Master: {} }, { runPolicy: { suspend: true } }));
      await one.agree({ state: "Suspended", pods: [] });
    });

    bout("too many restarts of containers end the job and all its pods", open, async (ring) => {
      const one = await ring.begin(
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

    bout("a job that takes too long ends", open, async (ring) => {
      const one = ring.duel(PYTORCH, "torch-late");
      const spec = { runPolicy: { activeDeadlineSeconds: 5, cleanPodPolicy: "None" } };
      await one.apply(job(PYTORCH, "torch-late", { Master: {} }, spec));
      // Upstream has no timer for the deadline: it needs an event of the job.
      await one.shakenUntil("Failed");
      await one.agree({ state: "Failed", pods: [] });
    });

    bout(
      "an elastic job without a master: variables, autoscaler, scaling, done when the first worker is",
      open,
      async (ring) => {
        const one = ring.duel(PYTORCH, "resnet-elastic", SELECTORS);
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
      },
    );

    bout("everything that users write besides stays", open, async (ring) => {
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
      const one = ring.duel(PYTORCH, "torch-rich");
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

    bout("the reason why a pod does not start is reported", open, async (ring) => {
      const one = await ring.begin(PYTORCH, "torch-waits", { Master: {} }, {}, STALLED_CONDITION);
      await one.waits("ImagePullBackOff", "Back-off pulling image", "master-0");
      const { events } = await one.agree({ state: "Created" });
      const message = `Error pod ${one.name}-master-0 container pytorch waiting message: Back-off pulling image`;
      assert.ok(events.includes(`Warning ImagePullBackOff ${message}`), events.join("\n"));
    });

    bout("a job that is over deletes itself when its time has come", open, async (ring) => {
      const spec = { runPolicy: { ttlSecondsAfterFinished: 1 } };
      const one = await ring.begin(PYTORCH, "torch-goes", { Master: {} }, spec, DELETED_JOB, SELECTORS);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "master-0");
      await one.agree({ state: "gone", pods: [] });
    });
  });

  describe("TFJob", { concurrency: 3 }, () => {
    bout("all types of replicas know each other; the chief decides; all is cleaned up", open, async (ring) => {
      const one = ring.duel(TENSORFLOW, "wide-deep");
      await one.apply(sample("04-tfjob-ps.yaml").replace("ttlSecondsAfterFinished: 3600", "backoffLimit: 5"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "chief-0");
      await one.agree({ state: "Succeeded", pods: [] });
    });

    bout("without a chief the first worker decides", open, async (ring) => {
      const one = ring.duel(TENSORFLOW, "dist-mnist");
      await one.apply(sample("03-tfjob.yaml"));
      await one.agree({ state: "Created", pods: ["worker-0 Pending", "worker-1 Pending"] });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-1");
      await one.agree({ state: "Running", pods: ["worker-0 Running", "worker-1 Succeeded"] });
      await one.end(0, "worker-0");
      await one.agree({ state: "Succeeded" });
    });

    bout("if all workers are to be done, the first is not enough", open, async (ring) => {
      const one = await ring.begin(
        TENSORFLOW,
        "flow-all",
        { Worker: { replicas: 2 } },
        { successPolicy: "AllWorkers" },
      );
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-0");
      await one.agree({ state: "Running", pods: ["worker-0 Succeeded", "worker-1 Running"] });
      await one.end(0, "worker-1");
      await one.agree({ state: "Succeeded" });
    });

    bout("a single pod gets no addresses of others", open, async (ring) => {
      const one = await ring.begin(TENSORFLOW, "flow-single", { Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(7, "worker-0");
      await one.agree({ state: "Failed", pods: ["worker-0 Failed"] });
    });

    bout("exit codes decide", open, async (ring) => {
      const replicas = { PS: {}, Worker: { replicas: 2, restartPolicy: "ExitCode" } };
      const one = await ring.begin(TENSORFLOW, "flow-codes", replicas, {}, ...FATAL_EXIT_CODE);
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(130, "worker-1");
      await one.agree({ state: "Running", pods: ["ps-0 Running", "worker-0 Running", "worker-1 Pending"] });
      await one.run("worker-1");
      await one.agree({ state: "Running", pods: ["ps-0 Running", "worker-0 Running", "worker-1 Running"] });
      await one.end(1, "worker-1");
      await one.agree({ state: "Failed" });
    });

    bout("dynamic workers know of the servers and of themselves, and may fail", open, async (ring) => {
      const replicas = { PS: {}, Worker: { replicas: 2 }, Evaluator: {} };
      const one = await ring.begin(TENSORFLOW, "flow-dynamic", replicas, { enableDynamicWorker: true });
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
    bout("a master and workers, done when the master is", open, async (ring) => {
      const one = ring.duel(XGBOOST, "boost-dist");
      await one.apply(sample("06-xgboostjob-workers.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "master-0");
      await one.agree({ state: "Succeeded", pods: ["master-0 Succeeded"] });
    });

    bout("a master alone", open, async (ring) => {
      const one = ring.duel(XGBOOST, "iris");
      await one.apply(sample("05-xgboostjob.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "master-0");
      await one.agree({ state: "Failed", pods: ["master-0 Failed"] });
    });

    bout("a worker with an exit code that can be tried again is made anew", open, async (ring) => {
      const one = await ring.begin(XGBOOST, "boost-again", { Master: {}, Worker: { restartPolicy: "ExitCode" } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(255, "worker-0");
      await one.agree({ state: "Running", pods: ["master-0 Running", "worker-0 Pending"] });
    });

    bout("suspended and resumed", open, async (ring) => {
      const one = await ring.begin(XGBOOST, "boost-rests", { Master: {}, Worker: {} });
      await one.run();
      await one.agree({ state: "Running" });
      await one.patch({ runPolicy: { suspend: true } });
      await one.agree({ state: "Suspended", pods: [] });
      await one.patch({ runPolicy: { suspend: false } });
      await one.agree({ state: "Suspended", pods: ["master-0 Pending", "worker-0 Pending"] });
    });
  });

  describe("MXJob", { concurrency: 3 }, () => {
    bout("a scheduler, a server and workers, done when the scheduler is", open, async (ring) => {
      const one = ring.duel(MXNET, "mx-dist");
      await one.apply(sample("08-mxjob-dist.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "scheduler-0");
      await one.agree({ state: "Succeeded", pods: [] });
    });

    bout("a worker alone", open, async (ring) => {
      const one = ring.duel(MXNET, "mx-single");
      await one.apply(sample("07-mxjob.yaml"));
      await one.agree({ state: "Created" });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(0, "worker-0");
      await one.agree({ state: "Succeeded" });
    });

    bout("a worker that fails ends the job", open, async (ring) => {
      const one = await ring.begin(MXNET, "mx-fails", { Scheduler: {}, Server: {}, Worker: { replicas: 2 } });
      await one.run();
      await one.agree({ state: "Running" });
      await one.end(1, "worker-1");
      await one.agree({ state: "Failed" });
    });
  });

  describe("each kind", { concurrency: 3 }, () => {
    for (const kind of [TENSORFLOW, XGBOOST, MXNET]) {
      const { kind: name } = kind.kind;
      const lead = `${kind.lead.toLowerCase()}-0`;
      const replicas = (restartPolicy: string) => ({ [kind.lead]: { restartPolicy }, Worker: { restartPolicy } });
      const short = kind.container;

      bout(`a ${name} restarts, is suspended and resumed, is done and cleaned up`, open, async (ring) => {
        const spec = { runPolicy: { cleanPodPolicy: "All" } };
        const one = await ring.begin(kind, `${short}-lives`, replicas("ExitCode"), spec);
        await one.run();
        await one.agree({ state: "Running", pods: [`${lead} Running`, "worker-0 Running"] });
        await one.end(137, "worker-0");
        await one.agree({ state: "Running", pods: [`${lead} Running`, "worker-0 Pending"] });
        await one.run("worker-0");
        await one.agree({ state: "Running", pods: [`${lead} Running`, "worker-0 Running"] });
        await one.patch({ runPolicy: { suspend: true } });
        await one.agree({ state: "Suspended", pods: [] });
        await one.patch({ runPolicy: { suspend: false } });
        await one.agree({ state: "Suspended", pods: [`${lead} Pending`, "worker-0 Pending"] });
        await one.run();
        await one.agree({ state: "Running" });
        await one.end(0, lead);
        await one.agree({ state: "Succeeded", pods: [] });
      });

      bout(`a ${name} whose worker must not be restarted fails, and what runs is cleaned up`, open, async (ring) => {
        const spec = { runPolicy: { cleanPodPolicy: "Running" } };
        const one = await ring.begin(kind, `${short}-fails`, replicas("Never"), spec);
        await one.run();
        await one.agree({ state: "Running" });
        await one.end(2, "worker-0");
        await one.agree({ state: "Failed", pods: ["worker-0 Failed"] });
      });

      bout(`a ${name} that is over deletes itself when its time has come`, open, async (ring) => {
        const spec = { runPolicy: { ttlSecondsAfterFinished: 1 } };
        const one = await ring.begin(kind, `${short}-goes`, { [kind.lead]: {} }, spec, DELETED_JOB);
        await one.run();
        await one.agree({ state: "Running" });
        await one.end(0, lead);
        await one.agree({ state: "gone", pods: [] });
      });
    }
  });
});
