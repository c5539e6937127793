import type { Container, EnvFromSource, EnvVar } from "konverge/kinds";
import type { Endpoint } from "./components.ts";
import { MODEL_FOLDER, type ModelSupply } from "./model-initializer.ts";
import type { SeldonDeployment, Unit } from "./seldon-deployment.ts";
import { HUGGING_FACE, isServer, isV2, knownServer, serverImage, TENSORFLOW, TRITON } from "./servers.ts";

/** The container of TensorFlow's own server, where the unit's container is a proxy that speaks Seldon's protocol. */
export const TENSORFLOW_SERVING = "tfserving";
const SERVING_GRPC_PORT = 2000;
const SERVING_HTTP_PORT = 2001;

const NO_STORAGE_INITIALIZER = "seldon.io/no-storage-initializer";

type Parameter = NonNullable<Unit["parameters"]>[number];

/** How a unit's container is started beyond what all units have in common. */
export interface ServerStart {
  /** PREDICTIVE_UNIT_PARAMETERS, which upstream's own servers and wrappers read. */
  readonly parameters: readonly Parameter[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  /** It has the health endpoints of the protocol v2. */
  readonly hasHealthEndpoints?: boolean;
}

/** Arguments, parameters and variables of a unit's server, as upstream starts it; of other units, their parameters. */
export function serverStart(object: SeldonDeployment, unit: Unit, endpoint: Endpoint): ServerStart {
  const { implementation, parameters = [] } = unit;
  const { protocol } = object.spec;
  if (!isServer(implementation)) return { parameters };
  if (implementation === TRITON) return tritonStart(object, unit, endpoint);
  if (implementation === TENSORFLOW) {
    return protocol === "tensorflow"
      ? { parameters, args: servingArgs(unit, endpoint.grpc, endpoint.http) }
      : { parameters: proxyParameters(unit) };
  }
  if (!isV2(protocol)) return { parameters: [...parameters, text("model_uri", MODEL_FOLDER)] };
  return { parameters, env: runtimeVariables(object, implementation), hasHealthEndpoints: true };
}

/** Whether the server itself reads the model from where it is stored, which only Triton can. */
export function readsModelItself({ spec }: SeldonDeployment, { implementation }: Unit): boolean {
  return implementation === TRITON && spec.annotations?.[NO_STORAGE_INITIALIZER]?.toLowerCase() === "true";
}

/** Whether the unit's container is a proxy, and TensorFlow's server with the model a second container. */
export function isProxied({ spec }: SeldonDeployment, { implementation }: Unit): boolean {
  return implementation === TENSORFLOW && spec.protocol !== "tensorflow";
}

/** TensorFlow's own server for a unit whose container is a proxy; what `written` sets stays. */
export function servingContainer(unit: Unit, written: Container, supply: ModelSupply | undefined): Container {
  const image = written.image ?? serverImage(TENSORFLOW, "tensorflow")!;
  return {
    ...written,
    image,
    imagePullPolicy: written.imagePullPolicy ?? "IfNotPresent",
    args: written.args ?? servingArgs(unit, SERVING_GRPC_PORT, SERVING_HTTP_PORT),
    ports: written.ports ?? [{ containerPort: SERVING_GRPC_PORT }, { containerPort: SERVING_HTTP_PORT }],
    volumeMounts: [...(written.volumeMounts ?? []), ...(supply?.mounts ?? [])],
  };
}

function servingArgs({ name }: Unit, grpc: number, http: number): string[] {
  return [`--port=${grpc}`, `--rest_api_port=${http}`, `--model_name=${name}`, `--model_base_path=${MODEL_FOLDER}`];
}

/** Where the proxy finds TensorFlow's server: beside it, unless its parameters name another place. */
function proxyParameters({ name, parameters = [] }: Unit): Parameter[] {
  const isLocated = parameters.some((one) => one.name === "rest_endpoint" || one.name === "grpc_endpoint");
  const beside = [
    text("rest_endpoint", `http://0.0.0.0:${SERVING_HTTP_PORT}`),
    text("grpc_endpoint", `0.0.0.0:${SERVING_GRPC_PORT}`),
  ];
  return [...parameters, ...(isLocated ? [] : beside), text("model_name", name)];
}

function tritonStart(object: SeldonDeployment, unit: Unit, { grpc, http }: Endpoint): ServerStart {
  const { parameters = [], modelUri, envSecretRefName } = unit;
  const program = ["/opt/tritonserver/bin/tritonserver", `--grpc-port=${grpc}`, `--http-port=${http}`];
  if (!readsModelItself(object, unit)) {
    return {
      parameters,
      args: [...program, `--model-repository=${MODEL_FOLDER}`, "--strict-model-config=false"],
    };
  }
  const options = new Set(["model_control_mode", "load_model", "strict_model_config"]);
  const chosen = parameters
    .filter(({ name }) => options.has(name.toLowerCase()))
    .map(({ name, value }) => `--${name.toLowerCase().replaceAll("_", "-")}=${value}`);
  return {
    parameters,
    args: [...program, `--model-repository=${modelUri}`, ...chosen],
    ...(envSecretRefName && { envFrom: [{ secretRef: { name: envSecretRefName } }] }),
  };
}

/** What MLServer reads beyond ports and the model's name. */
function runtimeVariables({ metadata }: SeldonDeployment, implementation: string): EnvVar[] {
  const runtime = knownServer(implementation)?.runtime;
  const tempo = {
    k8s_options: { defaultRuntime: "tempo.seldon.SeldonKubernetesRuntime", namespace: metadata.namespace },
  };
  return [
    ...(runtime ? [{ name: "MLSERVER_MODEL_IMPLEMENTATION", value: runtime }] : []),
    { name: "MLSERVER_MODEL_VERSION", value: "v1" },
    { name: "MLSERVER_MODEL_URI", value: MODEL_FOLDER },
    { name: "TEMPO_RUNTIME_OPTIONS", value: JSON.stringify(tempo) },
    // Its models do not work in parallel processes, and are downloaded to a folder that the container's user can write.
    ...(implementation === HUGGING_FACE
      ? [
          { name: "MLSERVER_PARALLEL_WORKERS", value: "0" },
          { name: "XDG_CACHE_HOME", value: "/opt/mlserver" },
        ]
      : []),
  ];
}

function text(name: string, value: string): Parameter {
  return { name, value, type: "STRING" };
}
