import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPodFeatures, podFeatures } from "@konverge/operator-suite";
import { childrenOf } from "./seldon-children.ts";
import { SeldonDeployment } from "./seldon-deployment.ts";

const images = { orchestrator: "orchestrator:1", modelInitializer: "fetch:1" };
type Spec = Parameters<typeof SeldonDeployment.new>[0]["spec"];
const made = (name: string, spec: Spec) =>
  childrenOf(SeldonDeployment.new({ metadata: { name, namespace: "ns" }, spec }), images);
const server = { name: "m", implementation: "SKLEARN_SERVER", modelUri: "gs://bucket/model" };

test("names longer than 63 characters become a hash, always the same", () => {
  const long = "a".repeat(60);
  const name = made(long, { predictors: [{ name: "default", graph: server }] }).deployments[0]!.metadata.name;
  assert.match(name, /^seldon-[0-9a-f]{32}$/);
  assert.equal(name, made(long, { predictors: [{ name: "default", graph: server }] }).deployments[0]!.metadata.name);
});

test("containers of one pod get different ports; declared ones stay", () => {
  const { deployments } = made("two", {
    predictors: [
      {
        name: "p",
        graph: { name: "a", children: [{ name: "b" }] },
        componentSpecs: [
          {
            spec: {
              containers: [
                { name: "a", image: "a:1" },
                { name: "b", image: "b:1", ports: [{ name: "http", containerPort: 8080 }] },
              ],
            },
          },
        ],
      },
    ],
  });
  const [a, b] = deployments[0]!.spec!.template.spec!.containers;
  const ports = (list: typeof a) => list!.ports!.map(({ name, containerPort }) => `${name}=${containerPort}`);
  assert.deepEqual(ports(a), ["http=9000", "grpc=9500", "metrics=6000"]);
  assert.deepEqual(ports(b), ["http=8080", "grpc=9501", "metrics=6001"]);
  assert.equal(b!.env!.find(({ name }) => name === "PREDICTIVE_UNIT_SERVICE_PORT")?.value, "8080");
});

test("a model from a claim is mounted, not copied over the network", () => {
  const { deployments } = made("pvc", {
    predictors: [{ name: "p", graph: { ...server, modelUri: "pvc://models/iris/1" } }],
  });
  const pod = deployments[0]!.spec!.template.spec!;
  assert.deepEqual(pod.initContainers![0]!.args, ["/mnt/pvc/iris/1", "/mnt/models"]);
  assert.ok(pod.volumes!.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === "models"));
});

test("without an orchestrator the predictor's Service leads to the unit", () => {
  const { services, deployments } = made("direct", {
    predictors: [{ name: "p", annotations: { "seldon.io/no-engine": "true" }, graph: server }],
  });
  assert.equal(deployments[0]!.spec!.template.spec!.containers.length, 1);
  assert.equal(services.at(-1)!.spec!.ports![0]!.port, 9000);
});

test("a separate orchestrator finds the units by their Services", () => {
  const { deployments } = made("apart", {
    annotations: { "seldon.io/engine-separate-pod": "true" },
    predictors: [{ name: "p", graph: server }],
  });
  assert.deepEqual(
    deployments.map(({ metadata }) => metadata.name),
    ["apart-p-0-m", "apart-p-svc-orch"],
  );
  const { value } = deployments[1]!.spec!.template.spec!.containers[0]!.env![0]!;
  const { graph } = JSON.parse(Buffer.from(value!, "base64").toString());
  assert.equal(graph.endpoint.service_host, "apart-p-m.ns.svc.cluster.local");
});

test("a pod that ends answers until no node sends it requests, the orchestrator before its unit", () => {
  const { deployments } = made("drained", { predictors: [{ name: "p", graph: server }] });
  const [unit, orchestrator] = deployments[0]!.spec!.template.spec!.containers;
  assert.deepEqual(unit!.lifecycle!.preStop!.exec!.command!.at(-1), "/bin/sleep 10");
  assert.deepEqual(orchestrator!.lifecycle!.preStop!.exec!.command!.at(-1), "/bin/sleep 5");
});

test("replicas come from the component, the predictor or the whole, in this order", () => {
  const replicas = (spec: Spec) => made("r", spec).deployments[0]!.spec!.replicas;
  assert.equal(
    replicas({
      replicas: 4,
      predictors: [{ name: "p", replicas: 3, componentSpecs: [{ replicas: 2 }], graph: server }],
    }),
    2,
  );
  assert.equal(replicas({ replicas: 4, predictors: [{ name: "p", replicas: 3, graph: server }] }), 3);
  assert.equal(replicas({ replicas: 4, predictors: [{ name: "p", graph: server }] }), 4);
});

test("componentSpecs reach the pods in full", () => {
  const { container, pod, sidecar } = podFeatures;
  const spec = { ...pod, containers: [{ name: "m", ...container }, sidecar] };
  const { deployments } = made("full", { predictors: [{ name: "p", componentSpecs: [{ spec }], graph: server }] });
  hasPodFeatures(deployments[0]!.spec!.template.spec, "m");
});
