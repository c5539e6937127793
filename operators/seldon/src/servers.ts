import type { SeldonDeployment } from "./seldon-deployment.ts";

/** A server that comes as an image and only needs a model. */
interface Server {
  /** The image by the protocol it is asked for; undefined: it does not speak that. */
  readonly images: { readonly seldon?: string; readonly v2?: string; readonly tensorflow?: string };
  /** The class by which MLServer runs it, for the protocol v2. */
  readonly runtime?: string;
  /** It can fetch its own model, and needs no modelUri. */
  readonly selfSupplied?: boolean;
}

export const TENSORFLOW = "TENSORFLOW_SERVER";
export const TRITON = "TRITON_SERVER";
export const HUGGING_FACE = "HUGGINGFACE_SERVER";

const SERVERS: Readonly<Record<string, Server>> = {
  SKLEARN_SERVER: {
    images: { seldon: "seldonio/sklearnserver:1.18.2", v2: "seldonio/mlserver:1.3.5-sklearn" },
    runtime: "mlserver_sklearn.SKLearnModel",
  },
  XGBOOST_SERVER: {
    images: { seldon: "seldonio/xgboostserver:1.18.2", v2: "seldonio/mlserver:1.3.5-xgboost" },
    runtime: "mlserver_xgboost.XGBoostModel",
  },
  MLFLOW_SERVER: {
    images: { seldon: "seldonio/mlflowserver:1.18.2", v2: "seldonio/mlserver:1.3.5-mlflow" },
    runtime: "mlserver_mlflow.MLflowRuntime",
  },
  [TENSORFLOW]: { images: { seldon: "seldonio/tfserving-proxy:1.18.2", tensorflow: "tensorflow/serving:2.1.0" } },
  [TRITON]: { images: { v2: "nvcr.io/nvidia/tritonserver:21.08-py3" } },
  [HUGGING_FACE]: {
    images: { v2: "seldonio/mlserver:1.3.5-huggingface" },
    runtime: "mlserver_huggingface.HuggingFaceRuntime",
    selfSupplied: true,
  },
  TEMPO_SERVER: { images: { v2: "seldonio/mlserver:1.3.5-slim" }, runtime: "tempo.mlserver.InferenceRuntime" },
};

/** Done by the orchestrator itself: there is no container. */
const BUILT_IN = new Set(["SIMPLE_MODEL", "SIMPLE_ROUTER", "RANDOM_ABTEST", "AVERAGE_COMBINER"]);

type Protocol = NonNullable<SeldonDeployment["spec"]["protocol"]>;

export function serverNames(): string[] {
  return Object.keys(SERVERS);
}

/** Whether a unit's implementation names a server; an unknown one does too, and is refused for it. */
export function isServer(implementation: string | undefined): implementation is string {
  return implementation !== undefined && implementation !== "UNKNOWN_IMPLEMENTATION" && !BUILT_IN.has(implementation);
}

export function isBuiltIn(implementation: string | undefined): boolean {
  return implementation !== undefined && BUILT_IN.has(implementation);
}

export function knownServer(implementation: string): Server | undefined {
  return SERVERS[implementation];
}

/** `kfserving` is the older name of `v2`. */
export function isV2(protocol: Protocol | undefined): boolean {
  return protocol === "v2" || protocol === "kfserving";
}

/** The image of a server for a protocol; undefined if there is none. */
export function serverImage(implementation: string, protocol: Protocol = "seldon"): string | undefined {
  return SERVERS[implementation]?.images[protocol === "kfserving" ? "v2" : protocol];
}
