import type { Affinity, Container, EnvVar, Pod, PodTemplateSpec } from "konverge/kinds";
import { drainHook, gpuProductAffinity, podTemplate } from "konverge/pods";
import { durationMs } from "konverge/time";
import { type FileSupply, type Mounted, supplyFrom } from "./file-supply.ts";
import { adapterReport, loraArgs } from "./lora.ts";
import { type FileSource, sourceOfPath } from "./model-source.ts";
import { resourcesOf } from "./server-resources.ts";
import type { ServingSpec } from "./serving-spec.ts";

/** The port on which vLLM answers, and its name in pods and Services. */
export const PORT = { name: "http", containerPort: 8000 } as const;

/** Marks all that this operator makes; it watches only pods with it. */
export const MANAGED = { "app.kubernetes.io/managed-by": "llm-operator" } as const;

/** The server's image would run as root. This user has no entry in its /etc/passwd: HOME and USER stand for one. */
const USER = 1000;
const HOME = "/home/model";
/** The variable in which Hugging Face's client expects a token. */
export const HF_TOKEN = "HF_TOKEN";
/** The container that serves the model. */
const CONTAINER = "model";
const CACHE_FOLDER = `${HOME}/.cache/huggingface`;
/** Where the files of a model are mounted that come from a claim or an image. */
const MODEL_FOLDER = "/mnt/models";
const ADAPTERS_FOLDER = "/mnt/adapters";

/** What a replica has taken on it may finish before it ends: long generations take minutes. */
const GRACE_SECONDS = 310;
const IN_FLIGHT = ["vllm:num_requests_running", "vllm:num_requests_waiting"];

/** How the model's files get to its servers; undefined if they download the model by its name. */
export function modelSupply(spec: ServingSpec): FileSupply | undefined {
  const { modelPath } = spec;
  const source = spec.source ?? sourceOfPath(modelPath);
  if (source) return supplyFrom(source, { name: "model", folder: MODEL_FOLDER, cache: cacheOf(spec) });
  if (!modelPath) return undefined;
  const mounted: Mounted = {
    volume: { name: "model", hostPath: { path: modelPath, type: "Directory" } },
    mount: { mountPath: modelPath, readOnly: true },
  };
  return { location: modelPath, mounted: [mounted], initContainers: [] };
}

/** How the adapters' files get to the servers, in the order of the spec. */
function adapterSupplies(spec: ServingSpec): FileSupply[] {
  const cache = cacheOf(spec);
  return (spec.lora?.adapters ?? []).map(({ name, source }) =>
    supplyFrom(source, { name: `adapter-${name}`, folder: `${ADAPTERS_FOLDER}/${name}`, cache }),
  );
}

/** The adapters, and how many of a model's pods serve each; undefined if there are none. */
export function adaptersServed(spec: ServingSpec, pods: readonly Pod[]) {
  const supplies = adapterSupplies(spec);
  const serving = pods.filter(isServing);
  return spec.lora?.adapters.map((adapter, i) => adapterReport(adapter, supplies[i]!, serving));
}

/** Whether a pod takes requests. */
export function isServing({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
  return ready && !metadata.deletionTimestamp;
}

function sourcesOf({ source, modelPath, lora }: ServingSpec): FileSource[] {
  return [source ?? sourceOfPath(modelPath) ?? {}, ...(lora?.adapters ?? []).map((adapter) => adapter.source)];
}

/** The claims that must exist for a replica to start. */
export function claimsOf(spec: ServingSpec): string[] {
  const names = sourcesOf(spec).flatMap(({ claim }) => (claim ? [claim.name] : []));
  return [...new Set([...names, ...(spec.cacheClaim ? [spec.cacheClaim] : [])])];
}

/** Whether files come from OCI images. */
export function usesImageVolumes(spec: ServingSpec): boolean {
  return sourcesOf(spec).some(({ image }) => image !== undefined);
}

/** Where downloads are kept: for new replicas on a claim, otherwise for one. */
function cacheOf({ cacheClaim }: ServingSpec): Mounted {
  const kept = cacheClaim ? { persistentVolumeClaim: { claimName: cacheClaim } } : { emptyDir: {} };
  return { volume: { name: "cache", ...kept }, mount: { mountPath: CACHE_FOLDER } };
}

/** What a kind says about its inference servers. */
export interface InferenceServer {
  readonly modelName: string;
  /** Before those of the spec. */
  readonly args: readonly string[];
  readonly products: readonly string[];
  /** Where pods must run to share a claim. */
  readonly together?: Affinity | undefined;
  readonly volumes?: readonly Mounted[];
  readonly metadata: PodTemplateSpec["metadata"];
}

/** The pods in which a model is served. */
export function podTemplateFor(spec: ServingSpec, server: InferenceServer): PodTemplateSpec {
  const adapters = adapterSupplies(spec);
  const supplies = [modelSupply(spec), ...adapters].filter((one) => one !== undefined);
  const mounted = [...volumesFor(spec, supplies), ...(server.volumes ?? [])];
  const adapterArgs = spec.lora ? loraArgs(spec.lora, adapters) : [];
  const initContainers = supplies.flatMap((supply) => supply.initContainers);
  return podTemplate(
    {
      ...(server.metadata && { metadata: server.metadata }),
      spec: {
        ...((spec.gpuType || server.together) && {
          affinity: { ...(spec.gpuType && gpuProductAffinity(server.products)), ...server.together },
        }),
        terminationGracePeriodSeconds: GRACE_SECONDS,
        // As process 1 a server ignores SIGTERM until it handles it: it would keep its GPUs while it loads, for all of its grace.
        shareProcessNamespace: true,
        ...(initContainers.length > 0 && { initContainers }),
        containers: [containerFor(spec, { ...server, args: [...server.args, ...adapterArgs] }, mounted)],
        volumes: mounted.map(({ volume }) => volume),
      },
    },
    { overlay: spec.template, user: USER },
  );
}

function volumesFor(spec: ServingSpec, supplies: readonly FileSupply[]): Mounted[] {
  const usesCache = spec.cacheClaim !== undefined || supplies.some(({ initContainers }) => initContainers.length > 0);
  return [
    {
      volume: { name: "shared-memory", emptyDir: { medium: "Memory", sizeLimit: String(spec.sharedMemory) } },
      mount: { mountPath: "/dev/shm" },
    },
    { volume: { name: "home", emptyDir: {} }, mount: { mountPath: HOME } },
    { volume: { name: "temporary", emptyDir: {} }, mount: { mountPath: "/tmp" } },
    ...supplies.flatMap(({ mounted }) => mounted),
    ...(usesCache ? [cacheOf(spec)] : []),
  ];
}

function containerFor(
  spec: ServingSpec,
  { modelName, args }: { modelName: string; args: readonly string[] },
  mounted: readonly Mounted[],
): Container {
  const { image, source, env = [] } = spec;
  const health = { httpGet: { path: "/health", port: PORT.name } };
  return {
    name: CONTAINER,
    image,
    args: [...args, ...(spec.args ?? [])],
    env: environment(modelName, source?.huggingFace?.tokenSecret, env),
    ports: [PORT],
    resources: resourcesOf(spec, CONTAINER),
    securityContext: { readOnlyRootFilesystem: true },
    startupProbe: { ...health, periodSeconds: 10, failureThreshold: startupTries(spec) },
    readinessProbe: { ...health, periodSeconds: 5 },
    livenessProbe: { ...health, periodSeconds: 10, failureThreshold: 6 },
    lifecycle: drainHook({ graceSeconds: graceOf(spec), port: PORT.containerPort, series: IN_FLIGHT }),
    volumeMounts: mounted.map(({ volume, mount }) => ({ name: volume.name, ...mount })),
  };
}

const graceOf = ({ template }: ServingSpec) => template?.spec?.terminationGracePeriodSeconds ?? GRACE_SECONDS;

/** The user's variables win over all but the model's name. */
function environment(
  modelName: string,
  token: { readonly name: string; readonly key: string } | undefined,
  env: NonNullable<ServingSpec["env"]>,
): EnvVar[] {
  const own: EnvVar[] = [
    { name: "MODEL_NAME", value: modelName },
    { name: "HOME", value: HOME },
    { name: "USER", value: "model" },
    ...(token ? [{ name: HF_TOKEN, valueFrom: { secretKeyRef: { name: token.name, key: token.key } } }] : []),
  ];
  const given = env.filter(({ name }) => name !== "MODEL_NAME");
  return [...own.filter(({ name }) => !given.some((one) => one.name === name)), ...given];
}

/** Large models take their time to load. */
function startupTries({ startupTimeout }: ServingSpec): number {
  return Math.max(1, Math.ceil(durationMs(startupTimeout) / 10_000));
}

/** Seconds after which a rollout that gets nowhere has failed: a replica's start, and ten minutes for its node and image. */
export function progressDeadline({ startupTimeout }: ServingSpec): number {
  return Math.ceil(durationMs(startupTimeout) / 1000) + 600;
}
