import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { Deployment, HorizontalPodAutoscaler, Pod, PodDisruptionBudget, Service } from "konverge/kinds";

export const sample = (name: string) => readFileSync(new URL(`../samples/${name}.yaml`, import.meta.url), "utf8");

const available = (stage: TestEnvironment, name: string) =>
  stage.until(
    `${name} is available`,
    async () => (await stage.find(SeldonDeployment, name))?.status?.state === "Available",
  );

/** A prepackaged server: a Deployment with server, orchestrator and model, two Services, a status in upstream's form. */
export const classifier: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier"));
  await available(stage, "flowers");

  const { spec, metadata } = await stage.get(Deployment, "flowers-main-0-classifier");
  const pod = spec!.template.spec!;
  assert.deepEqual(
    pod.containers.map(({ name, image }) => `${name} ${image}`),
    ["classifier seldonio/sklearnserver:1.18.2", "seldon-container-engine seldonio/seldon-core-executor:1.18.2"],
  );
  assert.deepEqual(pod.initContainers?.[0]?.args, ["gs://example-models/flowers/v1", "/mnt/models"]);
  assert.deepEqual(pod.containers[0]!.resources, { requests: { memory: "512Mi" } });
  assert.equal(metadata.labels?.["seldon-deployment-id"], "flowers");
  const services = (await stage.list(Service)).map((one) => one.metadata.name).sort();
  assert.deepEqual(services, ["flowers-main", "flowers-main-classifier"]);

  const { status } = await stage.get(SeldonDeployment, "flowers");
  assert.deepEqual(status?.deploymentStatus, { "flowers-main-0-classifier": { replicas: 2, availableReplicas: 2 } });
  assert.equal(status?.serviceStatus?.["flowers-main"]?.httpEndpoint, `flowers-main.${stage.namespace}:8000`);
  assert.equal(status?.replicas, 2);
  const states = Object.fromEntries(status!.conditions!.map(({ type, status: is }) => [type, is]));
  for (const type of ["DeploymentsReady", "ServicesReady", "HpasReady", "PdbsReady"])
    assert.equal(states[type], "True");
  await stage.settled();
};

/** What is changed by hand or deleted comes back; what the spec no longer asks for goes. */
export const lives: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier"));
  await available(stage, "flowers");
  await stage.client.delete(Service, `${stage.namespace}/flowers-main`);
  await stage.until("the Service is back", async () => (await stage.find(Service, "flowers-main")) !== undefined);
  await stage.client.patch(Deployment, `${stage.namespace}/flowers-main-0-classifier`, {
    merge: { spec: { replicas: 7 } },
  });
  await stage.until(
    "the replicas are as the spec says",
    async () => (await stage.get(Deployment, "flowers-main-0-classifier")).spec?.replicas === 2,
  );
  // Another container gives the Deployment another name: the old one goes.
  await stage.client.patch(SeldonDeployment, `${stage.namespace}/flowers`, {
    json: [{ op: "replace", path: "/spec/predictors/0/graph/name", value: "tree" }],
  });
  await stage.until("the new Deployment alone is there", async () => {
    const names = (await stage.list(Deployment)).map((one) => one.metadata.name);
    return names.length === 1 && names[0] === "flowers-main-0-tree";
  });
  await available(stage, "flowers");
  await stage.client.delete(SeldonDeployment, `${stage.namespace}/flowers`);
  await stage.until("nothing is left", async () => {
    const left = [...(await stage.list(Deployment)), ...(await stage.list(Service)), ...(await stage.list(Pod))];
    return left.length === 0;
  });
};

/** A graph over two pods, an autoscaler, a budget and a second predictor. */
export const graph: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("graph"));
  await available(stage, "sentiment");
  const names = (await stage.list(Deployment)).map((one) => one.metadata.name).sort();
  assert.deepEqual(names, ["sentiment-canary-0-model", "sentiment-stable-0-cleaner", "sentiment-stable-1-model"]);

  const first = await stage.get(Deployment, "sentiment-stable-0-cleaner");
  const engine = first.spec!.template.spec!.containers.at(-1)!;
  const decoded = JSON.parse(
    Buffer.from(engine.env!.find(({ name }) => name === "ENGINE_PREDICTOR")!.value!, "base64").toString(),
  );
  assert.equal(decoded.graph.endpoint.service_host, "localhost");
  assert.equal(
    decoded.graph.children[0].endpoint.service_host,
    `sentiment-stable-model.${stage.namespace}.svc.cluster.local`,
  );
  assert.equal(engine.env!.find(({ name }) => name === "LOG_LEVEL")?.value, "INFO");
  assert.equal(first.metadata.labels?.["seldon.io/transformer"], "true");

  const scaler = await stage.get(HorizontalPodAutoscaler, "sentiment-stable-1-model");
  assert.equal(scaler.spec?.maxReplicas, 5);
  assert.ok(await stage.find(PodDisruptionBudget, "sentiment-stable-0-cleaner"));
  // The number of replicas is the autoscaler's: whatever it chooses, the operator has no say in it.
  await stage.client.patch(Deployment, `${stage.namespace}/sentiment-stable-1-model`, {
    merge: { spec: { replicas: 4 } },
  });
  await stage.settled();
  const { metadata, spec } = await stage.get(Deployment, "sentiment-stable-1-model");
  const applied = metadata.managedFields?.filter(({ operation, subresource }) => operation === "Apply" && !subresource);
  assert.equal(applied?.length, 1);
  assert.equal(applied![0]!.fieldsV1?.["f:spec"]?.["f:replicas"], undefined);
  const { minReplicas = 1, maxReplicas } = scaler.spec!;
  assert.ok(spec!.replicas! >= minReplicas && spec!.replicas! <= maxReplicas, `${spec!.replicas} replicas`);
};

/** A predictor with an explainer. */
export const withExplainer: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("explained"));
  await available(stage, "income");
  await stage.settled();
};

/** A predictor's explainer has a separate Deployment and Service, and sends its requests to the predictor's Service. */
export const explained: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("explained"));
  await available(stage, "income");
  const { spec } = await stage.get(Deployment, "income-main-explainer");
  const [explainer] = spec!.template.spec!.containers;
  assert.equal(explainer?.image, "seldonio/alibiexplainer:1.18.2");
  assert.deepEqual(explainer?.args, [
    "--model_name=classifier",
    `--predictor_host=income-main.${stage.namespace}:8000`,
    "--protocol=seldon.http",
    "--http_port=9000",
    "--storage_uri=/mnt/models",
    "AnchorTabular",
    "--threshold=0.9",
  ]);
  assert.deepEqual(spec!.template.spec!.initContainers?.[0]?.args, [
    "gs://example-models/income/explainer",
    "/mnt/models",
  ]);
  const { status } = await stage.get(SeldonDeployment, "income");
  assert.deepEqual(status?.deploymentStatus?.["income-main-explainer"], {
    replicas: 1,
    availableReplicas: 1,
    explainerFor: "income-main",
  });
  assert.deepEqual(status?.serviceStatus?.["income-main-explainer"], {
    svcName: "income-main-explainer",
    httpEndpoint: `income-main-explainer.${stage.namespace}:9000`,
    explainerFor: "income-main",
  });
  assert.match(status?.address?.url ?? "", /^http:\/\/income-main\./, "it is the predictor that is asked");
  // The other protocol has another server, which is configured by environment variables.
  await stage.apply(sample("explained").replace("  predictors:", "  protocol: v2\n  predictors:"));
  await stage.until("the explainer speaks v2", async () => {
    const { spec: live } = await stage.get(Deployment, "income-main-explainer");
    const { env = [], image } = live!.template.spec!.containers[0]!;
    const extra = env.find(({ name }) => name === "MLSERVER_MODEL_EXTRA")?.value;
    return (
      image === "seldonio/mlserver:1.3.5-alibi-explain" &&
      extra !== undefined &&
      JSON.parse(extra).explainer_type === "anchor_tabular"
    );
  });
  await available(stage, "income");
  await stage.client.patch(SeldonDeployment, `${stage.namespace}/income`, {
    json: [{ op: "remove", path: "/spec/predictors/0/explainer" }],
  });
  await stage.until("nobody explains", async () => {
    const names = [...(await stage.list(Deployment)), ...(await stage.list(Service))].map((one) => one.metadata.name);
    return !names.includes("income-main-explainer");
  });
};

/** A model that is too large for all nodes, and then is not. */
export const recovers: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier").replace("512Mi", "900Ti"));
  await stage.until(
    "it is being created",
    async () => (await stage.find(SeldonDeployment, "flowers"))?.status?.state === "Creating",
  );
  await stage.settled();
  await stage.apply(sample("classifier"));
  await available(stage, "flowers");
};

/** What could never run is refused with its field and the reason; a fixed object runs without further help. */
export const badInput: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  const refused = async (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(sample("classifier"))), message);
  await refused(
    (text) => text.replace("SKLEARN_SERVER", "NO_SUCH_SERVER"),
    /unknown server: use one of SKLEARN_SERVER/,
  );
  await refused((text) => text.replace(/ +modelUri: .*\n/, ""), /needs a model/);
  await refused(
    (text) => text.replace(/ +implementation: .*\n/, ""),
    /no container of componentSpecs has the unit's name/,
  );
  await refused((text) => text.replace("replicas: 2", "replicas: -2"), /should be greater than or equal to 0/);
  await refused((text) => text.replace("replicas: 2", "traffic: 50"), /a single predictor gets all traffic/);
  await assert.rejects(stage.apply(sample("graph").replace("traffic: 90", "traffic: 80")), /must add up to 100/);
  assert.equal(await stage.find(SeldonDeployment, "flowers"), undefined);

  // More memory than any node has: pods wait, the status says so, and nothing spins.
  await stage.apply(sample("classifier").replace("512Mi", "900Ti"));
  await stage.until(
    "it is being created",
    async () => (await stage.find(SeldonDeployment, "flowers"))?.status?.state === "Creating",
  );
  await stage.settled();
  const before = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), before);
  await stage.apply(sample("classifier"));
  await available(stage, "flowers");
};

/** Where upstream's operator runs, ours leaves everything to it and says so. */
export const besideUpstream: Scenario = async (stage) => {
  await stage.client.create(Deployment, {
    metadata: {
      name: "seldon-controller-manager",
      namespace: stage.namespace,
      labels: { "control-plane": "seldon-controller-manager" },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "seldon" } },
      template: {
        metadata: { labels: { app: "seldon" } },
        spec: { containers: [{ name: "manager", image: "seldon:1" }] },
      },
    },
  });
  await stage.start(seldonOperator);
  await stage.apply(sample("classifier"));
  await stage.until("an event says so", async () =>
    (await stage.events(SeldonDeployment, "flowers")).some((event) => event.includes("UpstreamOperator")),
  );
  assert.equal(await stage.find(Deployment, "flowers-main-0-classifier"), undefined);
  assert.equal((await stage.get(SeldonDeployment, "flowers")).status?.state, undefined);
};
