import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, JobTemplateSpec } from "konverge/kinds";
import { TrainJob } from "./train-job.ts";
import { claimsFor, stepsOf, trainServiceFor } from "./train-plan.ts";
import { ClusterTrainingRuntime, type RuntimeSpec } from "./training-runtime.ts";

const job = (spec: object = {}): TrainJob =>
  ({
    ...TrainJob.draft({ metadata: { name: "tune", namespace: "ml" }, spec: { runtimeRef: { name: "r" }, ...spec } }),
    metadata: { name: "tune", namespace: "ml", uid: "u1" },
  }) as TrainJob;

const step = (
  name: string,
  ancestor: string | undefined,
  containers: readonly Partial<Container>[],
  spec: object = {},
) => ({
  name,
  replicas: 1,
  template: {
    ...(ancestor && { metadata: { labels: { "trainer.kubeflow.org/trainjob-ancestor-step": ancestor } } }),
    spec: { template: { spec: { containers } }, ...spec },
  } as unknown as JobTemplateSpec,
});

const runtime = (spec: object): RuntimeSpec =>
  (
    ClusterTrainingRuntime.draft({
      metadata: { name: "r" },
      spec: {
        template: { spec: { replicatedJobs: [step("node", "trainer", [{ name: "node", image: "old" }])] } },
        ...spec,
      },
    }) as unknown as { spec: RuntimeSpec }
  ).spec;

const podOf = (spec: object, of: object) => stepsOf(job(spec), runtime(of))[0]!.jobs[0]!.spec!.template;
const nodeOf = (spec: object, of: object) => podOf(spec, of).spec!.containers[0]!;
const variables = ({ env = [] }: Container) =>
  Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef?.fieldPath]));
const INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']";

test("what the trainer of a TrainJob says replaces what the runtime says, and resources and variables are merged", () => {
  const replicatedJobs = [
    step(
      "node",
      "trainer",
      [
        {
          name: "node",
          image: "old",
          command: ["a"],
          args: ["b"],
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "1" },
          ],
          resources: { limits: { memory: "1Gi", cpu: "1" } },
        },
      ],
      { suspend: true, backoffLimit: 3 },
    ),
  ];
  const trainer = {
    image: "new",
    command: ["c"],
    args: ["d"],
    env: [{ name: "A", value: "2" }],
    numNodes: 3,
    resourcesPerNode: { limits: { cpu: "2" }, requests: { cpu: "2" } },
  };
  const [{ jobs }] = stepsOf(job({ trainer }), runtime({ template: { spec: { replicatedJobs } } })) as [
    ReturnType<typeof stepsOf>[number],
  ];
  const { parallelism, completions, completionMode, template, suspend, backoffLimit } = jobs[0]!.spec!;
  assert.deepEqual([suspend, backoffLimit], [false, 3]);
  assert.deepEqual([parallelism, completions, completionMode], [3, 3, "Indexed"]);
  assert.equal(template.spec?.restartPolicy, "OnFailure");
  assert.deepEqual(template.spec?.containers[0], {
    name: "node",
    image: "new",
    command: ["c"],
    args: ["d"],
    env: [
      { name: "A", value: "2" },
      { name: "B", value: "1" },
    ],
    resources: { limits: { memory: "1Gi", cpu: "2" }, requests: { cpu: "2" } },
  });
});

test("each policy sets its own variables, and opens the port of the first pod", () => {
  const torch = nodeOf({}, { mlPolicy: { numNodes: 2, torch: {} } });
  assert.deepEqual(variables(torch), {
    PET_NNODES: "2",
    PET_NPROC_PER_NODE: "1",
    PET_NODE_RANK: INDEX,
    PET_MASTER_ADDR: "tune-node-0-0.tune",
    PET_MASTER_PORT: "29500",
  });
  assert.deepEqual(torch.ports, [{ containerPort: 29500 }]);
  assert.deepEqual(variables(nodeOf({ trainer: { numNodes: 4 } }, { mlPolicy: { jax: {} } })), {
    JAX_NUM_PROCESSES: "4",
    JAX_PROCESS_ID: INDEX,
    JAX_COORDINATOR_ADDRESS: "tune-node-0-0.tune:29500",
  });
  const gpus = { trainer: { numNodes: 2, resourcesPerNode: { limits: { "nvidia.com/gpu": 4 } } } };
  assert.deepEqual(variables(nodeOf(gpus, { mlPolicy: { xgboost: {} } })), {
    DMLC_TRACKER_URI: "tune-node-0-0.tune",
    DMLC_TRACKER_PORT: "29500",
    DMLC_TASK_ID: INDEX,
    DMLC_NUM_WORKER: "8",
  });
  const plain = nodeOf({}, { mlPolicy: { numNodes: 2 } });
  assert.equal(plain.env, undefined);
  assert.equal(plain.ports, undefined);
});

test("torchrun starts a process per GPU or per CPU, unless the TrainJob says how many", () => {
  const processes = (trainer: object) =>
    variables(nodeOf({ trainer }, { mlPolicy: { torch: {} } }))["PET_NPROC_PER_NODE"];
  assert.equal(processes({ resourcesPerNode: { limits: { "nvidia.com/gpu": 2 } } }), "auto");
  assert.equal(processes({ resourcesPerNode: { limits: { cpu: "8" }, requests: { cpu: "2500m" } } }), "3");
  assert.equal(processes({ resourcesPerNode: { limits: { cpu: 8 } } }), "8");
  assert.equal(processes({ resourcesPerNode: { limits: { cpu: 8 } }, numProcPerNode: 2 }), "2");
  assert.equal(processes({}), "1");
});

test("an initializer gets its URI, variables and credentials", () => {
  const replicatedJobs = [step("model-initializer", "model-initializer", [{ name: "model-initializer" }])];
  const model = { storageUri: "hf://a/b", env: [{ name: "C", value: "1" }], secretRef: { name: "hub" } };
  const container = nodeOf({ initializer: { model } }, { template: { spec: { replicatedJobs } } });
  assert.deepEqual(variables(container), { STORAGE_URI: "hf://a/b", C: "1" });
  assert.deepEqual(container.envFrom, [{ secretRef: { name: "hub" } }]);
});

test("containers that the runtime names have the variables of torchrun, too", () => {
  const replicatedJobs = [step("node", "trainer", [{ name: "node" }, { name: "check" }, { name: "log" }])];
  const torch = { envInjection: { targets: [{ jobName: "node", containerNames: ["check"] }] } };
  const { containers } = podOf({}, { mlPolicy: { torch }, template: { spec: { replicatedJobs } } }).spec!;
  assert.equal(variables(containers[1]!)["PET_NNODES"], "1");
  assert.equal(containers[2]?.env, undefined);
});

test("patches and overrides are merged into the pods, and labels of the JobSet are those of its Jobs", () => {
  const pod = {
    metadata: { labels: { team: "ml" } },
    spec: {
      tolerations: [{ key: "gpu", operator: "Exists" }],
      containers: [{ name: "node", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", emptyDir: {} }],
    },
  };
  const template = { metadata: { annotations: { b: "2" } }, spec: { template: pod } };
  const patch = {
    manager: "acme.io/me",
    trainingRuntimeSpec: {
      template: { metadata: { labels: { a: "1" } }, spec: { replicatedJobs: [{ name: "node", template }] } },
    },
  };
  const override = { targetJobs: [{ name: "node" }], spec: { serviceAccountName: "trainer" } };
  const [{ jobs }] = stepsOf(job({ runtimePatches: [patch], podTemplateOverrides: [override] }), runtime({})) as [
    ReturnType<typeof stepsOf>[number],
  ];
  const { metadata, spec } = jobs[0]!;
  assert.equal(metadata.labels?.["a"], "1");
  assert.deepEqual(metadata.annotations, { b: "2" });
  assert.equal(spec?.template.metadata?.labels?.["team"], "ml");
  assert.equal(spec?.template.metadata?.labels?.["jobset.sigs.k8s.io/jobset-name"], "tune");
  assert.equal(spec?.template.spec?.serviceAccountName, "trainer");
  assert.deepEqual(spec?.template.spec?.tolerations, pod.spec.tolerations);
  assert.deepEqual(spec?.template.spec?.volumes, pod.spec.volumes);
  const [node] = spec!.template.spec!.containers;
  assert.deepEqual([node?.image, node?.volumeMounts?.[0]?.mountPath], ["old", "/data"]);
});

test("claims of the runtime become volumes of the pods that mount them", () => {
  const mount = { volumeMounts: [{ name: "initializer", mountPath: "/workspace" }] };
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const spec = runtime({
    template: {
      spec: {
        volumeClaimPolicies: [{ templates: [{ metadata: { name: "initializer" }, spec: claim }] }],
        replicatedJobs: [
          step("node", "trainer", [{ name: "node", ...mount }]),
          step("log", undefined, [{ name: "log" }]),
        ],
      },
    },
  });
  const [node, log] = stepsOf(job(), spec).map(({ jobs }) => jobs[0]!.spec!.template.spec!);
  const volume = { name: "initializer", persistentVolumeClaim: { claimName: "initializer-tune" } };
  assert.deepEqual(node?.volumes, [volume]);
  assert.equal(log?.volumes, undefined);
  assert.deepEqual(
    claimsFor(job(), spec).map(({ metadata }) => metadata.name),
    ["initializer-tune"],
  );
});

test("the Service has the name of the subdomain; without host names there is none", () => {
  const withNetwork = (network: object) =>
    runtime({ template: { spec: { network, replicatedJobs: [step("node", "trainer", [{ name: "node" }])] } } });
  const named = withNetwork({ subdomain: "mesh", publishNotReadyAddresses: false });
  assert.equal(trainServiceFor(job(), named)?.metadata.name, "mesh");
  assert.equal(trainServiceFor(job(), named)?.spec?.publishNotReadyAddresses, false);
  assert.equal(stepsOf(job(), named)[0]!.jobs[0]!.spec?.template.spec?.subdomain, "mesh");
  const none = withNetwork({ enableDNSHostnames: false });
  assert.equal(trainServiceFor(job(), none), undefined);
  assert.equal(stepsOf(job(), none)[0]!.jobs[0]!.spec?.template.spec?.subdomain, undefined);
});
