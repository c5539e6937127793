import assert from "node:assert/strict";
import { kubeflowOperator, MXJob, PyTorchJob, TFJob, XGBoostJob } from "@konverge/kubeflow-operator";
import type { TestEnvironment } from "@konverge/operator-suite";
import type { KindRef, KubeObject } from "konverge";
import { Pod, Service } from "konverge/kinds";
import { checklist, line } from "../form.ts";

interface Names {
  readonly namespace: string;
  readonly job: string;
  readonly image: string;
  readonly script: string;
  readonly workers: number;
  readonly gpus: number;
}

interface Reported extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

const container = (name: string, { image, script, gpus }: Names) => ({
  name,
  image,
  command: ["python", script],
  resources: { limits: { "nvidia.com/gpu": gpus } },
});

const replica = (name: string, values: Names, replicas: number) => ({
  replicas,
  restartPolicy: "OnFailure",
  template: { spec: { containers: [container(name, values)] } },
});

/** The document's job: a master and workers. */
const pytorchJob = (values: Names, runPolicy?: object) => ({
  apiVersion: "kubeflow.org/v1",
  kind: "PyTorchJob",
  metadata: { name: values.job },
  spec: {
    ...(runPolicy && { runPolicy }),
    pytorchReplicaSpecs: {
      Master: replica("pytorch", values, 1),
      Worker: replica("pytorch", values, values.workers),
    },
  },
});

async function running(stage: TestEnvironment, kind: KindRef<KubeObject>, name: string): Promise<void> {
  await stage.until(`${kind.kind} ${name} runs`, async () => {
    const { status } = ((await stage.find(kind as KindRef<Reported>, name)) ?? {}) as Reported;
    return status?.conditions?.at(-1)?.type === "Running";
  });
}

async function ended(stage: TestEnvironment, pod: string): Promise<void> {
  const { spec } = await stage.get(Pod, pod);
  const containerStatuses = spec!.containers.map(({ name, image }) => ({
    name,
    image: image!,
    imageID: "",
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 0, reason: "Completed" } },
  }));
  await stage.client.patchStatus(Pod, `${stage.namespace}/${pod}`, {
    merge: { status: { phase: "Succeeded", containerStatuses } },
  } as never);
}

const envOf = (pod: Pod) =>
  Object.fromEntries(pod.spec!.containers[0]!.env!.map(({ name, value }) => [name, value ?? ""]));

export default checklist<Names>({
  id: "D2",
  name: "training-operator",
  cases: [
    {
      namespace: "default",
      job: "pytorch-dist-mnist",
      image: "pytorch/pytorch:1.12.0-cuda11.3",
      script: "/workspace/mnist.py",
      workers: 3,
      gpus: 1,
    },
    { namespace: "team-y", job: "bert", image: "example.com/bert:7", script: "/bert.py", workers: 1, gpus: 2 },
  ],
  stories: [
    line("L861-865", "jobs of all four frameworks run (MXNet's kind is MXJob)", async (stage, values) => {
      await stage.start(kubeflowOperator);
      const single = (name: string) => replica(name, { ...values, gpus: 0 }, 1);
      const jobs: [KindRef<KubeObject>, object][] = [
        [TFJob, { tfReplicaSpecs: { Worker: single("tensorflow") } }],
        [PyTorchJob, { pytorchReplicaSpecs: { Master: single("pytorch") } }],
        [MXJob, { jobMode: "MXTrain", mxReplicaSpecs: { Worker: single("mxnet") } }],
        [XGBoostJob, { xgbReplicaSpecs: { Master: single("xgboost") } }],
      ];
      for (const [kind, spec] of jobs) {
        const name = `${values.job}-${kind.plural.slice(0, 2)}`;
        await stage.apply({ apiVersion: "kubeflow.org/v1", kind: kind.kind, metadata: { name }, spec });
        await running(stage, kind, name);
      }
    }),
    line("L870-903", "the document's PyTorchJob runs as it is: a master and its workers", async (stage, values) => {
      const { job, image, script, workers, gpus } = values;
      await stage.start(kubeflowOperator);
      await stage.apply(pytorchJob(values));
      await running(stage, PyTorchJob, job);
      const pods = await stage.list(Pod, `training.kubeflow.org/job-name=${job}`);
      const names = [`${job}-master-0`, ...Array.from({ length: workers }, (_, index) => `${job}-worker-${index}`)];
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), names);
      for (const { spec } of pods) {
        assert.equal(spec!.restartPolicy, "OnFailure");
        const [main] = spec!.containers;
        assert.equal(main!.name, "pytorch");
        assert.equal(main!.image, image);
        assert.deepEqual(main!.command, ["python", script]);
        assert.equal(String(main!.resources?.limits?.["nvidia.com/gpu"]), String(gpus));
      }
    }),
    {
      title: "what the operator does for a job",
      lines: {
        L907: "pods get the variables of a distributed training",
        L908: "Services are made so that pods find each other",
        L909: "the job is done when its master is",
        L910: "pods are cleaned up afterwards",
      },
      async play(stage, values, check) {
        const { job, workers } = values;
        await stage.start(kubeflowOperator);
        await stage.apply(pytorchJob(values, { cleanPodPolicy: "All" }));
        await running(stage, PyTorchJob, job);
        await check("L907", async () => {
          const last = workers - 1;
          const env = envOf(await stage.get(Pod, `${job}-worker-${last}`));
          assert.equal(env["MASTER_ADDR"], `${job}-master-0`);
          assert.equal(env["MASTER_PORT"], "23456");
          assert.equal(env["WORLD_SIZE"], String(workers + 1));
          assert.equal(env["RANK"], String(workers));
          assert.equal(envOf(await stage.get(Pod, `${job}-master-0`))["RANK"], "0");
        });
        await check("L908", async () => {
          const services = await stage.list(Service, `training.kubeflow.org/job-name=${job}`);
          assert.equal(services.length, workers + 1);
          const { spec } = await stage.get(Service, `${job}-master-0`);
          assert.equal(spec?.clusterIP, "None");
          assert.equal(spec?.ports?.[0]?.port, 23456);
        });
        await check("L909", async () => {
          await ended(stage, `${job}-master-0`);
          await stage.until("it is done", async () => {
            return (await stage.condition(PyTorchJob, job, "Succeeded")) === "True PyTorchJobSucceeded";
          });
        });
        await check("L910", async () => {
          await stage.until("its pods and Services are gone", async () => {
            const selector = `training.kubeflow.org/job-name=${job}`;
            return (await stage.list(Pod, selector)).length + (await stage.list(Service, selector)).length === 0;
          });
        });
      },
    },
  ],
});
