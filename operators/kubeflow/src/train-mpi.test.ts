import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap, PodSpec, Secret } from "konverge/kinds";
import { realClock } from "konverge/time";
import { TrainJob } from "./train-job.ts";
import { mpiObjectsFor } from "./train-mpi.ts";
import { stepsOf } from "./train-plan.ts";
import { trainProblems } from "./train-rules.ts";
import { ClusterTrainingRuntime, type RuntimeSpec } from "./training-runtime.ts";

const job = (trainer: object = {}): TrainJob =>
  ({
    ...TrainJob.new({ metadata: { name: "pi", namespace: "ml" }, spec: { runtimeRef: { name: "mpi" }, trainer } }),
    metadata: { name: "pi", namespace: "ml", uid: "u1" },
  }) as TrainJob;

const step = (name: string, more: { ancestor?: string; pod?: object; parallelism?: number; node?: object } = {}) => ({
  name,
  template: {
    ...(more.ancestor && { metadata: { labels: { "trainer.kubeflow.org/trainjob-ancestor-step": more.ancestor } } }),
    spec: {
      ...(more.parallelism && { parallelism: more.parallelism }),
      template: { spec: { containers: [{ name: "node", image: "i", ...more.node }, { name: "log" }], ...more.pod } },
    },
  },
});
const launcher = step("launcher", { ancestor: "trainer" });

const runtime = (
  mpi: object = {},
  {
    steps = [step("node"), launcher],
    numNodes,
    network,
  }: { steps?: object[]; numNodes?: number; network?: object } = {},
): RuntimeSpec =>
  (
    ClusterTrainingRuntime.new({
      metadata: { name: "mpi" },
      spec: {
        mlPolicy: { ...(numNodes && { numNodes }), mpi },
        template: { spec: { replicatedJobs: steps as never, ...(network && { network }) } },
      },
    }) as unknown as { spec: RuntimeSpec }
  ).spec;

const { secrets } = realClock();
const hosts = (trainer: object, of: RuntimeSpec) =>
  (mpiObjectsFor(job(trainer), of, undefined, secrets)[1] as ConfigMap).data?.["hostfile"];
const podsOf = (trainer: object, of: RuntimeSpec) =>
  Object.fromEntries(stepsOf(job(trainer), of).map(({ name, jobs }) => [name, jobs[0]!.spec!]));
const variables = (pod: PodSpec) =>
  Object.fromEntries((pod.containers[0]!.env ?? []).map(({ name, value }) => [name, value]));

test("keys are mounted in node and launcher, hosts and variables are those of the launcher only", () => {
  const { node, launcher: first } = podsOf({ numNodes: 2 }, runtime({ sshAuthMountPath: "/home/mpiuser/.ssh" }));
  const keys = {
    name: "mpi-ssh-auth",
    secret: {
      secretName: "pi-mpi-ssh-auth",
      defaultMode: 0o400,
      items: [
        { key: "ssh-privatekey", path: "id_rsa", mode: 0o640 },
        { key: "ssh-publickey", path: "id_rsa.pub", mode: 0o644 },
        { key: "ssh-publickey", path: "authorized_keys", mode: 0o644 },
      ],
    },
  };
  const items = [{ key: "hostfile", path: "hostfile", mode: 0o444 }];
  const file = { name: "mpi-hostfile", configMap: { name: "pi-mpi-hostfile", items } };
  const mount = { name: "mpi-ssh-auth", mountPath: "/home/mpiuser/.ssh" };
  assert.deepEqual(node?.template.spec?.volumes, [keys]);
  assert.deepEqual(node?.template.spec?.containers, [
    { name: "node", image: "i", volumeMounts: [mount] },
    { name: "log" },
  ]);
  assert.deepEqual(first?.template.spec?.volumes, [keys, file]);
  const [trainer, log] = first!.template.spec!.containers;
  assert.deepEqual(trainer?.volumeMounts, [mount, { name: "mpi-hostfile", mountPath: "/etc/mpi" }]);
  assert.equal(trainer?.ports, undefined);
  assert.deepEqual(log, { name: "log" });
  assert.deepEqual(variables(first!.template.spec!), {
    OMPI_MCA_orte_default_hostfile: "/etc/mpi/hostfile",
    OMPI_MCA_orte_keep_fqdn_hostnames: "true",
    OMPI_MCA_orte_set_default_slots: "1",
    OMPI_MCA_plm_rsh_args: "-o ConnectionAttempts=10",
  });
});

test("only root can read the private key in its folder, or SSH would ignore it", () => {
  const [volume] = podsOf({}, runtime())["node"]!.template.spec!.volumes!;
  assert.deepEqual(
    volume?.secret?.items?.map(({ mode }) => mode),
    [0o600, 0o644, 0o644],
  );
});

test("volumes and mounts of the runtime in the same places are replaced", () => {
  const old = {
    volumes: [
      { name: "mpi-ssh-auth", emptyDir: {} },
      { name: "data", emptyDir: {} },
    ],
  };
  const node = { volumeMounts: [{ name: "data", mountPath: "/root/.ssh" }] };
  const spec = podsOf({}, runtime({}, { steps: [step("node", { pod: old, node }), launcher] }))["node"]!.template.spec!;
  assert.deepEqual(
    spec.volumes?.map(({ name, secret }) => [name, secret !== undefined]),
    [
      ["mpi-ssh-auth", true],
      ["data", false],
    ],
  );
  assert.deepEqual(spec.containers[0]?.volumeMounts, [{ name: "mpi-ssh-auth", mountPath: "/root/.ssh" }]);
});

test("the launcher is one pod, and one of the nodes if processes run in it", () => {
  const counts = (trainer: object, of: RuntimeSpec) =>
    Object.entries(podsOf(trainer, of)).map(([name, { parallelism, completions }]) => {
      assert.equal(parallelism, completions);
      return `${name} ${parallelism}`;
    });
  const alone = runtime({}, { numNodes: 2 });
  assert.deepEqual(counts({ numNodes: 3 }, alone), ["node 3", "launcher 1"]);
  assert.deepEqual(counts({}, alone), ["node 2", "launcher 1"]);
  assert.equal(hosts({ numNodes: 2 }, alone), "pi-node-0-0.pi slots=1\npi-node-0-1.pi slots=1\n");
  const together = runtime({ runLauncherAsNode: true });
  assert.deepEqual(counts({ numNodes: 3 }, together), ["node 2", "launcher 1"]);
  assert.deepEqual(counts({}, together), ["node 1", "launcher 1"]);
  assert.equal(hosts({ numNodes: 2 }, together), "pi-node-0-0.pi slots=1\npi-launcher-0-0 slots=1\n");
  const onNodes = [step("node"), step("launcher", { ancestor: "trainer", pod: { hostNetwork: true } })];
  const shared = runtime({ runLauncherAsNode: true }, { steps: onNodes });
  assert.equal(hosts({ numNodes: 2 }, shared), "pi-node-0-0.pi slots=1\npi-launcher-0-0.pi slots=1\n");
  const own = { steps: [step("node", { parallelism: 4 }), launcher], numNodes: 1 };
  assert.deepEqual(counts({}, runtime({ runLauncherAsNode: true }, own)), ["node 4", "launcher 1"]);
  const named = runtime({}, { network: { subdomain: "mesh" } });
  assert.equal(hosts({}, named), "pi-node-0-0.mesh slots=1\n");
});

test("slots are those of the TrainJob or of the runtime; a single one becomes one for each GPU", () => {
  const slots = (trainer: object, mpi: object = {}, node: object = {}) =>
    /slots=(\d+)/.exec(hosts(trainer, runtime(mpi, { steps: [step("node", { node }), launcher] }))!)?.[1];
  assert.equal(slots({ numProcPerNode: 8 }, { numProcPerNode: 3 }), "8");
  assert.equal(slots({}, { numProcPerNode: 3 }), "3");
  const gpus = (count: number) => ({ limits: { "nvidia.com/gpu": count } });
  assert.equal(slots({ resourcesPerNode: gpus(4) }), "4");
  assert.equal(slots({ resourcesPerNode: gpus(4) }, { numProcPerNode: 2 }), "2");
  assert.equal(slots({}, {}, { resources: gpus(2) }), "2");
  assert.equal(slots({ resourcesPerNode: { limits: { cpu: 4 } } }, {}, { resources: gpus(2) }), "1");
});

test("a launcher that is a node shares its variables and resources with the nodes, but not its command", () => {
  const trainer = {
    image: "new",
    command: ["mpirun", "train"],
    env: [{ name: "EPOCHS", value: "3" }],
    resourcesPerNode: { limits: { cpu: 2 } },
  };
  const { node, launcher: first } = podsOf(trainer, runtime({ runLauncherAsNode: true }));
  const [container] = node!.template.spec!.containers;
  assert.deepEqual([container?.image, container?.command], ["i", undefined]);
  assert.deepEqual(container?.env, trainer.env);
  assert.deepEqual(container?.resources, { limits: { cpu: 2 } });
  const [main] = first!.template.spec!.containers;
  assert.deepEqual([main?.image, main?.command], ["new", trainer.command]);
  assert.equal(variables(first!.template.spec!)["EPOCHS"], "3");
  const apart = podsOf(trainer, runtime())["node"]!.template.spec!.containers[0]!;
  assert.deepEqual([apart.env, apart.resources], [undefined, undefined]);
});

test("keys that are there stay, and cannot be edited", () => {
  const keys = (live?: Secret) => mpiObjectsFor(job(), runtime(), live, secrets)[0] as Secret;
  const first = keys();
  assert.deepEqual([first.type, first.immutable], ["kubernetes.io/ssh-auth", true]);
  assert.deepEqual(keys(first).data, first.data);
  assert.notDeepEqual(keys().data, first.data);
  assert.deepEqual(mpiObjectsFor(job(), { template: runtime().template }, undefined, secrets), []);
});

test("variables of MPI, and nodes beside a launcher that the runtime does not have, are refused", () => {
  const problems = (trainer: object, of: RuntimeSpec) =>
    trainProblems(job(trainer), of).map(({ field, message }) => `${field}: ${message}`);
  const [reserved] = problems({ env: [{ name: "OMPI_MCA_plm_rsh_args", value: "-v" }] }, runtime());
  assert.match(reserved!, /^spec\.trainer\.env: .*invalid envs configured: \[OMPI_MCA_plm_rsh_args\]$/);
  const only = runtime({ runLauncherAsNode: true }, { steps: [step("node", { ancestor: "trainer" })] });
  assert.deepEqual(problems({ numNodes: 1 }, only), []);
  assert.match(
    problems({ numNodes: 2 }, only)[0]!,
    /^spec\.trainer\.numNodes: Invalid value: 2: must have 1 when MPI /,
  );
});
