import assert from "node:assert/strict";
import { DynamoComponentDeployment, DynamoGraphDeployment, dynamoOperator } from "@konverge/dynamo-operator";
import { supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { CustomResourceDefinition, Deployment, Ingress, PersistentVolumeClaim, Service } from "konverge/kinds";
import { checklist, line } from "../form.ts";

interface Names {
  readonly namespace: string;
  readonly graph: string;
  readonly services: readonly string[];
  readonly shared: readonly [name: string, value: string];
  readonly own: readonly [name: string, value: string];
  readonly claim: string;
  readonly size: string;
}

/** A graph in which each service runs once, with its own environment variable; the last one may keep files on a claim. */
function graph({ graph: name, services, shared, own, claim, size }: Names, options: { envs?: boolean; pvc?: boolean }) {
  const written = services.map((service, i) => [
    service,
    {
      replicas: 1,
      envs: [{ name: own[0], value: own[1] }],
      ...(options.pvc && i === services.length - 1 && { pvc: { name: claim, mountPath: "/models", size } }),
    },
  ]);
  return {
    apiVersion: "nvidia.com/v1alpha1",
    kind: "DynamoGraphDeployment",
    metadata: { name },
    spec: {
      ...(options.envs && { envs: [{ name: shared[0], value: shared[1] }] }),
      services: Object.fromEntries(written),
    },
  };
}

const componentOf = (name: string, service: string) => `${name}-${service.toLowerCase()}`;

const successful = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} is successful`, async () => {
    const found = await stage.find(DynamoGraphDeployment, name);
    return found?.status?.state === "successful" && found.status.observedGeneration === found.metadata.generation;
  });

async function variables(stage: TestEnvironment, deployment: string): Promise<Record<string, string | undefined>> {
  const { spec } = await stage.get(Deployment, deployment);
  return Object.fromEntries(spec!.template.spec!.containers[0]!.env!.map(({ name, value }) => [name, value]));
}

export default checklist<Names>({
  id: "D3",
  name: "dynamo-operator",
  cases: [
    {
      namespace: "default",
      graph: "disagg",
      services: ["Frontend", "Processor", "VllmWorker", "PrefillWorker"],
      shared: ["GLOBAL_ENV_VAR", "some_global_value"],
      own: ["SPECIFIC_ENV_VAR", "some_specific_value"],
      claim: "vllm-model-storage",
      size: "100Gi",
    },
    {
      namespace: "team-graphs",
      graph: "search",
      services: ["Frontend", "RankWorker"],
      shared: ["REGION", "north"],
      own: ["TIER", "gold"],
      claim: "rank-files",
      size: "7Gi",
    },
  ],
  stories: [
    {
      title: "what the kinds are",
      lines: {
        "L29-32": "services must be given, variables for all may be",
        "L35-36": "nvidia.com/v1alpha1, within namespaces",
      },
      async play(stage, names, check) {
        await stage.install(dynamoOperator);
        await check("L29-32", async () => {
          const { spec: _, ...empty } = graph(names, {});
          await assert.rejects(stage.apply({ ...empty, spec: {} }), /set spec.services to the parts of the graph/);
          await stage.apply(graph(names, {}));
          await stage.apply(graph(names, { envs: true }));
        });
        await check("L35-36", async () => {
          const crd = await stage.client.get(CustomResourceDefinition, "dynamographdeployments.nvidia.com");
          assert.equal(crd.spec.scope, "Namespaced");
          assert.ok(crd.spec.versions.some(({ name, served }) => name === "v1alpha1" && served));
        });
      },
    },
    {
      title: "a graph from its file to running pods",
      lines: {
        L5: "a graph is deployed, configured and taken away again",
        "L13-14": "a controller for graphs, one for components",
        "L17-20": "an object is observed, resources are created, the status is reported",
        "L40-68": "each service runs, with the variables of all and its own, which win",
        "L76-90": "what is kept in Git is never changed",
        "L138-140": "an update of the object is followed",
        "L159-164": "a component for each service; state and conditions",
        "L168-171": "a component becomes a Deployment, a Service and an Ingress, and reports",
      },
      async play(stage, names, check) {
        const { graph: name, services, shared, own } = names;
        const running = await stage.start(dynamoOperator);
        const written = graph(names, { envs: true });
        await stage.apply(written);
        await check("L17-20", () => successful(stage, name));
        await check("L40-68", async () => {
          for (const service of services) {
            const env = await variables(stage, componentOf(name, service));
            assert.equal(env[shared[0]], shared[1]);
            assert.equal(env[own[0]], own[1]);
          }
        });
        await check("L76-90", async () => {
          const { spec, metadata } = await stage.get(DynamoGraphDeployment, name);
          assert.deepEqual(spec.services, written.spec.services);
          assert.equal(metadata.generation, 1);
        });
        await check("L159-164", async () => {
          const components = (await stage.list(DynamoComponentDeployment)).map(({ metadata }) => metadata.name).sort();
          assert.deepEqual(components, services.map((service) => componentOf(name, service)).sort());
          assert.equal(await stage.condition(DynamoGraphDeployment, name, "Ready"), "True all_resources_are_ready");
        });
        await check("L168-171", async () => {
          const frontend = componentOf(name, "Frontend");
          const patch = { services: { Frontend: { ingress: { enabled: true, hostSuffix: "example.com" } } } };
          await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/${name}`, { merge: { spec: patch } });
          await stage.until("the Ingress is there", async () => (await stage.find(Ingress, frontend)) !== undefined);
          assert.ok(await stage.find(Deployment, frontend));
          assert.ok(await stage.find(Service, frontend));
          assert.match(
            (await stage.condition(DynamoComponentDeployment, frontend, "Available")) ?? "",
            /^(True|False) /,
          );
        });
        await check("L138-140", async () => {
          const last = services.at(-1)!;
          const patch = { services: { [last]: { replicas: 2, envs: [{ name: shared[0], value: "its own" }] } } };
          await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/${name}`, { merge: { spec: patch } });
          await successful(stage, name);
          assert.equal((await stage.get(Deployment, componentOf(name, last))).spec?.replicas, 2);
          assert.equal((await variables(stage, componentOf(name, last)))[shared[0]], "its own");
        });
        await check("L13-14", async () => {
          const metrics = await running.metrics();
          for (const plural of ["dynamographdeployments", "dynamocomponentdeployments"]) {
            assert.match(metrics, new RegExp(`controller_runtime_reconcile_total{controller="${plural}.nvidia.com"`));
          }
        });
        await check("L5", async () => {
          await stage.client.delete(DynamoGraphDeployment, `${stage.namespace}/${name}`);
          await stage.until("nothing is left", async () => (await stage.list(Deployment)).length === 0);
        });
      },
    },
    {
      title: "a graph with a claim",
      kubectl: true,
      lines: {
        "L103-128": "a service's claim is made and mounted as it is written",
        "L131-134": "the claim is made, no image is built unless asked for, the services run",
        "L148-151": "kubectl tells how the graph is doing",
      },
      async play(stage, names, check) {
        const { graph: name, services, claim, size } = names;
        await supplyVolumes(stage, size);
        await stage.start(dynamoOperator);
        await stage.apply(graph(names, { pvc: true }));
        await successful(stage, name);
        await check("L103-128", async () => {
          const { spec } = await stage.get(Deployment, componentOf(name, services.at(-1)!));
          const mounts = spec!.template.spec!.containers[0]!.volumeMounts!;
          assert.ok(mounts.some((mount) => mount.name === claim && mount.mountPath === "/models"));
        });
        await check("L131-134", async () => {
          const { spec } = await stage.get(PersistentVolumeClaim, claim);
          assert.equal(spec?.resources?.requests?.["storage"], size);
          assert.equal(await stage.condition(DynamoGraphDeployment, name, "ImageBuilt"), "True NotAsked");
        });
        await check("L148-151", async () => {
          const command = `export NAMESPACE=${stage.namespace}; kubectl get dynamographdeployment ${name} -n $NAMESPACE`;
          const { stdout, code, stderr } = await stage.shell(command);
          assert.equal(code, 0, stderr);
          assert.match(stdout, new RegExp(`${name} +successful`));
        });
      },
    },
    line(
      "L186-187",
      "the addresses of NATS and etcd are given to components only if the operator has them",
      async (stage, names) => {
        const { graph: name, services } = names;
        const plain = await stage.start(dynamoOperator);
        await stage.apply(graph(names, {}));
        await successful(stage, name);
        const target = componentOf(name, services.at(-1)!);
        assert.equal((await variables(stage, target))["NATS_SERVER"], undefined);
        await plain.stop();
        const settings = { natsAddr: "nats://nats.infra:4222", etcdAddr: "etcd.infra:2379" };
        await stage.start(dynamoOperator, { settings });
        await stage.until("the addresses are there", async () => {
          const env = await variables(stage, target);
          return env["NATS_SERVER"] === settings.natsAddr && env["ETCD_ENDPOINTS"] === settings.etcdAddr;
        });
      },
    ),
    line("L181", "the system namespace is dynamo unless said otherwise", async (stage, names) => {
      const { graph: name, services } = names;
      await stage.start(dynamoOperator, { settings: { natsAddr: "nats:4222" } });
      await stage.apply(graph(names, {}));
      await successful(stage, name);
      assert.equal((await variables(stage, componentOf(name, services[0]!)))["NATS_SERVER"], "nats.dynamo:4222");
    }),
    line(
      "L195",
      "the permissions it needs are shipped with it, and it works with exactly these",
      async (stage, names) => {
        // The test environment starts operators under the generated role and nothing else.
        const running = await stage.start(dynamoOperator);
        await stage.apply(graph(names, {}));
        await successful(stage, names.graph);
        assert.deepEqual(
          running.warnings.filter((warning) => warning.includes("forbidden")),
          [],
        );
      },
    ),
  ],
});
