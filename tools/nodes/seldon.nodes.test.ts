import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { CustomResourceDefinition, Deployment, Pod, Service } from "@konverge/kinds";
import { foreignDefinition } from "@konverge/operator-suite";
import { GRPCRoute, HTTPRoute, SeldonDeployment } from "@konverge/seldon-operator";
import { alibiExplainer, haproxy, mlserver, orchestrator, rclone, sklearnServer } from "./images/seldon.ts";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { restrictedPod } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "flowers";
const program = (name: string) => readFileSync(new URL(`programs/${name}.py`, import.meta.url), "utf8");
/** Posts once, to the first argument, and prints the response. */
const POST = `
import sys, urllib.error, urllib.request
try:
    request = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), {"Content-Type": "application/json"})
    print(urllib.request.urlopen(request, timeout=120).read().decode())
except urllib.error.HTTPError as error:
    sys.exit(f"{error}: {error.read().decode()}")
`;
/** Three flowers, one of each kind. */
const ROWS = [
  [5.1, 3.5, 1.4, 0.2],
  [5.9, 2.8, 4.3, 1.3],
  [6.9, 3.1, 5.4, 2.1],
];
const request = (rows: readonly (readonly number[])[]) => ({
  inputs: [{ name: "rows", datatype: "FP64", shape: [rows.length, 4], data: rows.flat() }],
});

/** What tests read of responses in the protocol v2. */
interface Inference {
  readonly outputs: readonly { readonly name: string; readonly data: readonly unknown[] }[];
}

/** MLServer and Seldon's wrapper from PyPI with models of scikit-learn, as the operator starts them. */
describe("seldon on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    const servers = [mlserver, alibiExplainer, sklearnServer, orchestrator];
    cluster = await NodeCluster.start({ name: "lane-seldon", images: [python, rclone, haproxy, ...servers] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("seldon-operator", "operators");
    await cluster.sharedVolume(NAMESPACE, "models");
    await fit("fit", "seldonio/mlserver:1.3.5-sklearn");
    await fit("fit_explainer", "seldonio/mlserver:1.3.5-alibi-explain");
    await run("asker", { image: "python:3.11-slim", command: ["sleep", "infinity"] });
  });
  after(async () => await cluster?.stop());

  const key = (name: string) => `${NAMESPACE}/${name}`;
  const run = (name: string, container: { image: string; command: string[]; env?: Record<string, string> }) => {
    const env = Object.entries(container.env ?? {}).map(([variable, value]) => ({ name: variable, value }));
    return cluster.client.create(Pod, {
      metadata: { name, namespace: NAMESPACE, labels: { app: name } },
      spec: restrictedPod({ ...container, name: "main", env }),
    });
  };
  /** Runs a program that writes models to the claim `models`. */
  const fit = async (name: string, image: string) => {
    const volumeMounts = [{ name: "models", mountPath: "/models" }];
    const env = [{ name: "MODELS", value: "/models" }];
    const pod = name.replace("_", "-");
    const container = { name: "main", image, command: ["python3", "-c", program(name)], env, volumeMounts };
    await cluster.client.create(Pod, {
      metadata: { name: pod, namespace: NAMESPACE },
      spec: {
        ...restrictedPod(container),
        restartPolicy: "Never",
        volumes: [{ name: "models", persistentVolumeClaim: { claimName: "models" } }],
      },
    });
    const { phase } = await until(`${pod} has ended`, 180, async () => {
      const { status } = await cluster.client.get(Pod, key(pod));
      return status?.phase === "Succeeded" || status?.phase === "Failed" ? status : undefined;
    });
    assert.equal(phase, "Succeeded", (await cluster.log(key(pod))).join("\n"));
  };
  const isAvailable = (name: string, seconds: number) =>
    until(`${name} is available`, seconds, async () => {
      const { metadata, status } = await cluster.client.get(SeldonDeployment, key(name));
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status === "True" && ready.observedGeneration === metadata.generation) return true;
      throw new Error(JSON.stringify(status));
    });
  const create = async (name: string, spec: object) => {
    await cluster.client.create(SeldonDeployment, {
      metadata: { name, namespace: NAMESPACE },
      spec: spec as SeldonDeployment["spec"],
    });
    await isAvailable(name, 240);
  };
  const post = async <T>(url: string, body: object): Promise<T> => {
    const process = await cluster.client.exec(key("asker"), ["python3", "-c", POST, url, JSON.stringify(body)]);
    const { stdout, stderr } = await process.output();
    assert.equal(stderr, "");
    return JSON.parse(stdout) as T;
  };
  const predicted = async (host: string, rows = ROWS) =>
    (await post<Inference>(`http://${host}/v2/models/classifier/infer`, request(rows))).outputs[0]!.data;
  const predictor = (name: string, model: string, more: object = {}) => ({
    ...{ name, replicas: 1, ...more },
    graph: { name: "classifier", implementation: "SKLEARN_SERVER", modelUri: `pvc://models/${model}` },
  });

  /** A pod that posts the first flower 20 times per second. */
  const ask = (name: string, url: string) =>
    run(name, {
      image: "python:3.11-slim",
      command: ["python3", "-c", program("predict")],
      env: { URL: url, BODY: JSON.stringify(request(ROWS.slice(0, 1))) },
    });
  const outcomes = async (name: string) => {
    const lines = await cluster.log(key(name));
    const answers = lines.filter((line) => line.startsWith("answered ")).map((line) => line.slice("answered ".length));
    return {
      predictions: answers.map((line) => (JSON.parse(line) as Inference).outputs[0]!.data[0] as number),
      failed: lines.filter((line) => line.startsWith("failed")),
    };
  };
  const answersTo = (name: string, count: number, seconds = 120) =>
    until(`${count} requests are answered`, seconds, async () => {
      const { predictions, failed } = await outcomes(name);
      return predictions.length + failed.length >= count ? { predictions, failed } : undefined;
    });

  test("MLServer serves a model of scikit-learn through the Services of the predictor and of the unit", async (t) => {
    const serves = () => create("iris", { protocol: "v2", predictors: [predictor("main", "stable", { replicas: 2 })] });
    t.diagnostic(`available after ${await timed(serves)} s`);
    assert.deepEqual(await predicted(`iris-main.${NAMESPACE}:8000`), [0, 1, 2]);
    assert.deepEqual(await predicted(`iris-main-classifier.${NAMESPACE}:9000`), [0, 1, 2]);
    const { status } = await cluster.client.get(SeldonDeployment, key("iris"));
    const { outputs } = await post<Inference>(status!.address!.url!, request(ROWS));
    assert.deepEqual(outputs[0]!.data, [0, 1, 2], "at the address in the status");
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector: "seldon-app=iris-main" });
    assert.equal(new Set(items.map(({ spec }) => spec?.nodeName)).size, 2, "its pods run on both nodes");
  });

  test("another model rolls out under load, and no request is lost", async (t) => {
    await ask("client", `http://iris-main.${NAMESPACE}:8000/v2/models/classifier/infer`);
    await answersTo("client", 50);
    const rollOut = async () => {
      const predictors = [predictor("main", "canary", { replicas: 2 })];
      await cluster.client.patch(SeldonDeployment, key("iris"), { merge: { spec: { predictors } } as never });
      await isAvailable("iris", 240);
      await until("the old pods have ended", 120, async () => {
        const labelSelector = "seldon-app=iris-main";
        const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector });
        return items.length === 2 ? true : undefined;
      });
    };
    const seconds = await timed(rollOut);
    const before = (await outcomes("client")).predictions.length;
    const { predictions, failed } = await answersTo("client", before + 50);
    t.diagnostic(`rolled out in ${seconds} s: ${predictions.length} requests answered, ${failed.length} lost`);
    assert.deepEqual(new Set(predictions), new Set([0, 10]), "both models have answered");
    assert.deepEqual(new Set(predictions.slice(-50)), new Set([10]), "only the new one answers now");
    assert.deepEqual(failed, []);
    await cluster.client.delete(Pod, key("client"));
  });

  test("a canary without a router is reached by its own Service only, as the condition reports", async () => {
    const predictors = [
      predictor("main", "stable", { replicas: 2, traffic: 75 }),
      predictor("canary", "canary", { traffic: 25 }),
    ];
    await cluster.client.patch(SeldonDeployment, key("iris"), { merge: { spec: { predictors } } as never });
    await isAvailable("iris", 240);
    const { status } = await cluster.client.get(SeldonDeployment, key("iris"));
    assert.equal(status?.conditions?.find(({ type }) => type === "TrafficSplit")?.reason, "NoRouter");
    for (const [name, prediction] of [
      ["main", 0],
      ["canary", 10],
    ] as const) {
      await ask(`client-${name}`, `http://iris-${name}.${NAMESPACE}:8000/v2/models/classifier/infer`);
      const { predictions, failed } = await answersTo(`client-${name}`, 100);
      assert.deepEqual([new Set(predictions), failed], [new Set([prediction]), []]);
      await cluster.client.delete(Pod, key(`client-${name}`));
    }
  });

  test("the HTTPRoute of a canary splits requests by its weights", async (t) => {
    for (const kind of [HTTPRoute, GRPCRoute])
      await cluster.client.create(CustomResourceDefinition, foreignDefinition(kind) as never);
    // Objects that change get their routes at once, others within 5 minutes.
    const predictors = [
      predictor("main", "stable", { replicas: 2, traffic: 80 }),
      predictor("canary", "canary", { traffic: 20 }),
    ];
    await cluster.client.patch(SeldonDeployment, key("iris"), { merge: { spec: { predictors } } as never });
    const route = await until("there is a route", 120, () => cluster.client.get(HTTPRoute, key("iris")));
    await run("gateway", {
      image: "haproxy:2.6",
      command: ["sh", "-c", 'printf "%s" "$CONFIG" > /tmp/haproxy.cfg && exec haproxy -db -f /tmp/haproxy.cfg'],
      env: { CONFIG: proxyConfig(route.spec as unknown as RouteSpec) },
    });
    await cluster.client.create(Service, {
      metadata: { name: "gateway", namespace: NAMESPACE },
      spec: { selector: { app: "gateway" }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const url = `http://gateway.${NAMESPACE}/seldon/${NAMESPACE}/iris/v2/models/classifier/infer`;
    await until("the gateway routes", 60, () => post<Inference>(url, request(ROWS)));
    await ask("client-split", url);
    const { predictions, failed } = await answersTo("client-split", 400);
    await cluster.client.delete(Pod, key("client-split"));
    const share = (100 * predictions.filter((one) => one === 10).length) / predictions.length;
    t.diagnostic(`${share.toFixed(1)} % of ${predictions.length} requests went to the canary, ${failed.length} lost`);
    assert.ok(share > 19 && share < 21, `${share} %`);
    assert.deepEqual(failed, []);
  });

  test("Alibi explains a prediction by asking the predictor", async (t) => {
    const explainer = { type: "AnchorTabular", modelUri: "pvc://models/explainer" };
    const serves = () =>
      create("explained", { protocol: "v2", predictors: [predictor("main", "stable", { explainer })] });
    t.diagnostic(`available after ${await timed(serves)} s`);
    const name = "explained-main-explainer";
    const explain = () =>
      post<Inference>(`http://${name}.${NAMESPACE}:9000/v2/models/${name}/infer`, request(ROWS.slice(0, 1)));
    const { outputs } = await until("it explains", 120, explain);
    const { data } = JSON.parse(String(outputs[0]!.data[0])) as { data: { anchor: string[]; precision: number } };
    t.diagnostic(`the anchor is ${data.anchor.join(" and ")}, with a precision of ${data.precision}`);
    assert.match(data.anchor.join(" "), /petal (length|width) \(cm\) <=/);
    assert.ok(data.precision > 0.9);
  });

  test("Seldon's own wrapper serves the model in the protocol seldon", async (t) => {
    const serves = () => create("wrapped", { predictors: [predictor("main", "stable")] });
    t.diagnostic(`available after ${await timed(serves)} s`);
    // Nodes learn of a pod a moment after it is ready.
    const { data } = await until("it answers", 60, () =>
      post<{ data: { ndarray: number[][] } }>(`http://wrapped-main.${NAMESPACE}:8000/api/v1.0/predictions`, {
        data: { ndarray: ROWS },
      }),
    );
    const likeliest = data.ndarray.map((shares) => shares.indexOf(Math.max(...shares)));
    assert.deepEqual(likeliest, [0, 1, 2]);
    const { items } = await cluster.client.list(Deployment, { namespace: NAMESPACE });
    assert.ok(items.every(({ status }) => status?.readyReplicas === status?.replicas));
  });
});

/** What a proxy reads of an HTTPRoute. */
interface RouteSpec {
  readonly rules: readonly {
    readonly matches: readonly { readonly path: { readonly value: string } }[];
    readonly backendRefs: readonly { readonly name: string; readonly port: number; readonly weight: number }[];
  }[];
}

/** The first rule of an HTTPRoute in HAProxy's words: its prefix is replaced, its weights are those of the servers. */
function proxyConfig({ rules: [rule] }: RouteSpec): string {
  const { matches, backendRefs } = rule!;
  const servers = backendRefs.map(
    ({ name, port, weight }) => `  server ${name} ${name}.${NAMESPACE}.svc:${port} weight ${weight}`,
  );
  const replaced = `regsub(^${matches[0]!.path.value}/,/)`;
  return [
    "defaults",
    "  mode http",
    "  timeout connect 5s",
    "  timeout client 60s",
    "  timeout server 60s",
    "listen route",
    "  bind :8080",
    "  balance roundrobin",
    `  http-request set-path %[path,${replaced}]`,
    ...servers,
    "",
  ].join("\n");
}
