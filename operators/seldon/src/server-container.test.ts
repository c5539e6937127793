import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "konverge/kinds";
import { seldonErrors } from "./seldon-admission.ts";
import { childrenOf } from "./seldon-children.ts";
import { SeldonDeployment } from "./seldon-deployment.ts";

const images = { orchestrator: "orchestrator:1", modelInitializer: "fetch:1" };
type Spec = Parameters<typeof SeldonDeployment.new>[0]["spec"];
type Graph = Spec["predictors"][number]["graph"];

const object = (spec: Spec) => SeldonDeployment.new({ metadata: { name: "s", namespace: "ns" }, spec });
function podOf(graph: Graph, more: Partial<Spec> = {}, containers: Container[] = []) {
  const componentSpecs = containers.length > 0 ? [{ spec: { containers } }] : undefined;
  const predictors = [{ name: "p", graph, ...(componentSpecs && { componentSpecs }) }];
  return childrenOf(object({ ...more, predictors }), images).deployments[0]!.spec!.template.spec!;
}
const model = (implementation: string): Graph => ({ name: "m", implementation, modelUri: "gs://bucket/model" });
const variable = ({ env }: Container, name: string) => env?.find((one) => one.name === name)?.value;
const parametersOf = (container: Container) => JSON.parse(variable(container, "PREDICTIVE_UNIT_PARAMETERS") ?? "[]");
const text = (name: string, value: string) => ({ name, value, type: "STRING" }) as const;

const withSeldonProtocol = {
  SKLEARN_SERVER: "seldonio/sklearnserver:1.18.2",
  XGBOOST_SERVER: "seldonio/xgboostserver:1.18.2",
  MLFLOW_SERVER: "seldonio/mlflowserver:1.18.2",
};
for (const [implementation, image] of Object.entries(withSeldonProtocol)) {
  test(`${implementation} with the protocol seldon gets the model's folder as a parameter`, () => {
    const [container] = podOf({
      ...model(implementation),
      parameters: [text("method", "predict")],
    }).containers;
    assert.equal(container!.image, image);
    assert.deepEqual(parametersOf(container!), [text("method", "predict"), text("model_uri", "/mnt/models")]);
    assert.equal(variable(container!, "MLSERVER_MODEL_IMPLEMENTATION"), undefined);
    assert.deepEqual(container!.readinessProbe?.tcpSocket, { port: 9000 });
  });
}

const withV2 = {
  SKLEARN_SERVER: ["sklearn", "mlserver_sklearn.SKLearnModel"],
  XGBOOST_SERVER: ["xgboost", "mlserver_xgboost.XGBoostModel"],
  MLFLOW_SERVER: ["mlflow", "mlserver_mlflow.MLflowRuntime"],
  HUGGINGFACE_SERVER: ["huggingface", "mlserver_huggingface.HuggingFaceRuntime"],
  TEMPO_SERVER: ["slim", "tempo.mlserver.InferenceRuntime"],
} as const;
for (const protocol of ["v2", "kfserving"] as const) {
  for (const [implementation, [tag, runtime]] of Object.entries(withV2)) {
    test(`${implementation} with the protocol ${protocol} is MLServer with the runtime ${runtime}`, () => {
      const [container] = podOf(model(implementation), { protocol }).containers;
      assert.equal(container!.image, `seldonio/mlserver:1.3.5-${tag}`);
      assert.deepEqual(
        Object.fromEntries(
          container!
            .env!.filter(({ name }) => /^(MLSERVER_(MODEL|HTTP|GRPC)|TEMPO)/.test(name))
            .map((one) => [one.name, one.value]),
        ),
        {
          MLSERVER_HTTP_PORT: "9000",
          MLSERVER_GRPC_PORT: "9500",
          MLSERVER_MODEL_IMPLEMENTATION: runtime,
          MLSERVER_MODEL_NAME: "m",
          MLSERVER_MODEL_VERSION: "v1",
          MLSERVER_MODEL_URI: "/mnt/models",
          TEMPO_RUNTIME_OPTIONS:
            '{"k8s_options":{"defaultRuntime":"tempo.seldon.SeldonKubernetesRuntime","namespace":"ns"}}',
        },
      );
      assert.equal(variable(container!, "PREDICTIVE_UNIT_PARAMETERS"), undefined, "MLServer has no such parameter");
      assert.deepEqual(container!.readinessProbe?.httpGet, { path: "/v2/health/ready", port: "http" });
      assert.deepEqual(container!.livenessProbe?.httpGet, { path: "/v2/health/live", port: "http" });
    });
  }
}

test("MLServer for Hugging Face works in one process, caches where it can write, and needs no modelUri", () => {
  const pod = podOf(
    { name: "m", implementation: "HUGGINGFACE_SERVER", parameters: [text("task", "text-generation")] },
    { protocol: "v2" },
    [{ name: "m", env: [{ name: "MLSERVER_MODEL_VERSION", value: "v7" }] }],
  );
  const [container] = pod.containers;
  assert.equal(variable(container!, "MLSERVER_PARALLEL_WORKERS"), "0");
  assert.equal(variable(container!, "XDG_CACHE_HOME"), "/opt/mlserver");
  assert.equal(variable(container!, "MLSERVER_MODEL_VERSION"), "v7", "what the container sets stays");
  assert.deepEqual(parametersOf(container!), [text("task", "text-generation")]);
  assert.equal(pod.initContainers, undefined);
});

test("TensorFlow with the protocol tensorflow is its own server, started with the unit's ports", () => {
  const pod = podOf(model("TENSORFLOW_SERVER"), { protocol: "tensorflow" });
  const [container, ...others] = pod.containers;
  assert.equal(container!.image, "tensorflow/serving:2.1.0");
  assert.deepEqual(container!.args, [
    "--port=9500",
    "--rest_api_port=9000",
    "--model_name=m",
    "--model_base_path=/mnt/models",
  ]);
  assert.deepEqual(
    others.map(({ name }) => name),
    ["seldon-container-engine"],
  );
  assert.equal(pod.initContainers![0]!.name, "m-model-initializer");
  assert.ok(container!.volumeMounts!.some(({ mountPath }) => mountPath === "/mnt/models"));
});

test("TensorFlow with the protocol seldon is a proxy, and a server beside it that has the model", () => {
  const pod = podOf(model("TENSORFLOW_SERVER"));
  const [proxy, serving, engine] = pod.containers;
  assert.equal(proxy!.image, "seldonio/tfserving-proxy:1.18.2");
  assert.deepEqual(parametersOf(proxy!), [
    text("rest_endpoint", "http://0.0.0.0:2001"),
    text("grpc_endpoint", "0.0.0.0:2000"),
    text("model_name", "m"),
  ]);
  assert.ok(!proxy!.volumeMounts!.some(({ mountPath }) => mountPath === "/mnt/models"));
  assert.equal(serving!.name, "tfserving");
  assert.equal(serving!.image, "tensorflow/serving:2.1.0");
  assert.deepEqual(serving!.args, [
    "--port=2000",
    "--rest_api_port=2001",
    "--model_name=m",
    "--model_base_path=/mnt/models",
  ]);
  assert.deepEqual(serving!.ports, [{ containerPort: 2000 }, { containerPort: 2001 }]);
  assert.deepEqual(serving!.volumeMounts, [
    { name: "tfserving-provision-location", mountPath: "/mnt/models", readOnly: true },
  ]);
  assert.equal(pod.initContainers![0]!.name, "tfserving-model-initializer");
  assert.equal(engine!.name, "seldon-container-engine");
});

test("a written tfserving container keeps what it sets, and a proxy keeps the endpoints it is given", () => {
  const graph = { ...model("TENSORFLOW_SERVER"), parameters: [text("grpc_endpoint", "far:1")] };
  const limits = { cpu: "2" };
  const pod = podOf(graph, {}, [
    { name: "m" },
    { name: "tfserving", image: "tensorflow/serving:2.9.1-gpu", resources: { limits } },
  ]);
  assert.deepEqual(
    pod.containers.map(({ name }) => name),
    ["m", "tfserving", "seldon-container-engine"],
  );
  assert.equal(pod.containers[1]!.image, "tensorflow/serving:2.9.1-gpu");
  assert.deepEqual(pod.containers[1]!.resources, { limits });
  assert.equal(pod.containers[1]!.args![0], "--port=2000");
  assert.deepEqual(parametersOf(pod.containers[0]!), [text("grpc_endpoint", "far:1"), text("model_name", "m")]);
});

test("two proxies of TensorFlow in one pod are refused: they would share one server", () => {
  const graph = { ...model("TENSORFLOW_SERVER"), children: [{ ...model("TENSORFLOW_SERVER"), name: "n" }] };
  const [error] = seldonErrors(object({ predictors: [{ name: "p", graph }] }));
  assert.match(error!.message, /two TENSORFLOW_SERVER units share a pod/);
  const separate = [{ spec: { containers: [{ name: "m" }] } }, { spec: { containers: [{ name: "n" }] } }];
  assert.deepEqual(seldonErrors(object({ predictors: [{ name: "p", graph, componentSpecs: separate }] })), []);
});

test("Triton is started with its ports and the folder of the model", () => {
  const pod = podOf(model("TRITON_SERVER"), { protocol: "v2" });
  assert.equal(pod.containers[0]!.image, "nvcr.io/nvidia/tritonserver:21.08-py3");
  assert.deepEqual(pod.containers[0]!.args, [
    "/opt/tritonserver/bin/tritonserver",
    "--grpc-port=9500",
    "--http-port=9000",
    "--model-repository=/mnt/models",
    "--strict-model-config=false",
  ]);
  assert.equal(variable(pod.containers[0]!, "PREDICTIVE_UNIT_PARAMETERS"), undefined);
  assert.equal(pod.initContainers!.length, 1);
});

test("Triton without the storage initializer reads the model itself, with the Secret's access", () => {
  const graph = {
    ...model("TRITON_SERVER"),
    envSecretRefName: "access",
    parameters: [text("model_control_mode", "explicit"), text("load_model", "resnet"), text("other", "1")],
  };
  const pod = podOf(graph, { protocol: "v2", annotations: { "seldon.io/no-storage-initializer": "true" } });
  assert.deepEqual(pod.containers[0]!.args!.slice(3), [
    "--model-repository=gs://bucket/model",
    "--model-control-mode=explicit",
    "--load-model=resnet",
  ]);
  assert.deepEqual(pod.containers[0]!.envFrom, [{ secretRef: { name: "access" } }]);
  assert.equal(pod.initContainers, undefined);
});

test("arguments that a container sets replace the server's", () => {
  const { containers } = podOf(model("TRITON_SERVER"), { protocol: "v2" }, [{ name: "m", args: ["tritonserver"] }]);
  assert.deepEqual(containers[0]!.args, ["tritonserver"]);
});
