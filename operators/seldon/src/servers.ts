/** A server that comes as an image and only needs a model. */
interface Server {
  /** The image by the protocol it is asked for; undefined: it does not speak that. */
  readonly images: { readonly seldon?: string; readonly v2?: string; readonly tensorflow?: string };
  /** It can fetch a model by itself, and needs no modelUri. */
  readonly selfSupplied?: boolean;
}

const SERVERS: Readonly<Record<string, Server>> = {
  SKLEARN_SERVER: { images: { seldon: "seldonio/sklearnserver:1.18.2", v2: "seldonio/mlserver:1.3.5-sklearn" } },
  XGBOOST_SERVER: { images: { seldon: "seldonio/xgboostserver:1.18.2", v2: "seldonio/mlserver:1.3.5-xgboost" } },
  MLFLOW_SERVER: { images: { seldon: "seldonio/mlflowserver:1.18.2", v2: "seldonio/mlserver:1.3.5-mlflow" } },
  TENSORFLOW_SERVER: { images: { seldon: "seldonio/tfserving-proxy:1.18.2", tensorflow: "tensorflow/serving:2.1.0" } },
  TRITON_SERVER: { images: { v2: "nvcr.io/nvidia/tritonserver:21.08-py3" } },
  HUGGINGFACE_SERVER: { images: { v2: "seldonio/mlserver:1.3.5-huggingface" }, selfSupplied: true },
  TEMPO_SERVER: { images: { v2: "seldonio/mlserver:1.3.5-slim" } },
};

/** Done by the orchestrator itself: there is no container. */
const BUILT_IN = new Set(["SIMPLE_MODEL", "SIMPLE_ROUTER", "RANDOM_ABTEST", "AVERAGE_COMBINER"]);

export type Protocol = "seldon" | "tensorflow" | "kfserving" | "v2";

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

/** The image of a server for a protocol; undefined if there is none. `kfserving` is the older name of `v2`. */
export function serverImage(implementation: string, protocol: Protocol = "seldon"): string | undefined {
  return SERVERS[implementation]?.images[protocol === "kfserving" ? "v2" : protocol];
}
