import type { Affinity, Container, EnvVar, Pod, PodTemplateSpec } from "konverge/kinds";
import { drainHook, gpuProductAffinity, podTemplate } from "konverge/pods";
import { durationMs } from "konverge/time";
import { acceleratorClaim, vendorOf } from "./accelerator.ts";
import { CACHE_FOLDER, HF_TOKEN, HOME, PORT } from "./container-layout.ts";
import type { ServedModel } from "./engines/engine.ts";
import { engineOf, serverImage } from "./engines/engine-of.ts";
import { type FileSupply, type Mounted, supplyFrom } from "./file-supply.ts";
import { adapterReport } from "./lora.ts";
import { type FileSource, sourceOfPath } from "./model-source.ts";
import { resourcesOf } from "./server-resources.ts";
import type { ServingSpec } from "./serving-spec.ts";

/** Marks all that this operator makes; it watches only pods with it. */
export const MANAGED = { "app.kubernetes.io/managed-by": "llm-operator" } as const;

/** The server's image would run as root. This user has no entry in its /etc/passwd: HOME and USER stand for one. */
const USER = 1000;
/** The container that serves the model. */
const CONTAINER = "model";
/** Where the files of a model are mounted that come from a claim or an image. */
const MODEL_FOLDER = "/mnt/models";
const ADAPTERS_FOLDER = "/mnt/adapters";

/** What a replica has taken on it may finish before it ends: long generations take minutes. */
const GRACE_SECONDS = 310;

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

/** What is served: its name, and where its files are. */
export function servedModel(spec: ServingSpec, name: string): ServedModel {
  return { name, location: modelSupply(spec)?.location };
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
  const adapterArgs = (spec.lora && engineOf(spec).adapterArgs?.(spec.lora, adapters)) ?? [];
  const download = downloadOf(spec, server.modelName);
  const initContainers = [...supplies.flatMap((supply) => supply.initContainers), ...(download ? [download] : [])];
  const claim = acceleratorClaim(spec);
  return podTemplate(
    {
      ...(server.metadata && { metadata: server.metadata }),
      spec: {
        ...((spec.gpuType || server.together) && {
          affinity: { ...(spec.gpuType && gpuProductAffinity(server.products, vendorOf(spec))), ...server.together },
        }),
        terminationGracePeriodSeconds: GRACE_SECONDS,
        // As process 1 a server ignores SIGTERM until it handles it: it would keep its GPUs while it loads, for all of its grace.
        shareProcessNamespace: true,
        ...(initContainers.length > 0 && { initContainers }),
        ...(claim && { resourceClaims: claim.pod }),
        containers: [containerFor(spec, { ...server, args: [...server.args, ...adapterArgs] }, mounted)],
        volumes: mounted.map(({ volume }) => volume),
      },
    },
    { overlay: spec.template, user: USER },
  );
}

function volumesFor(spec: ServingSpec, supplies: readonly FileSupply[]): Mounted[] {
  const usesCache =
    spec.cacheClaim !== undefined ||
    engineOf(spec).download !== undefined ||
    supplies.some(({ initContainers }) => initContainers.length > 0);
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
  { modelName, args }: Pick<InferenceServer, "modelName" | "args">,
  mounted: readonly Mounted[],
): Container {
  const { command, inFlight, probes } = engineOf(spec);
  const claim = acceleratorClaim(spec);
  return {
    name: CONTAINER,
    image: serverImage(spec),
    ...(command && { command: [...command] }),
    args: [...args, ...(spec.args ?? [])],
    env: environment(modelName, spec),
    ports: [PORT],
    resources: { ...resourcesOf(spec, CONTAINER), ...(claim && { claims: claim.container }) },
    securityContext: { readOnlyRootFilesystem: true },
    ...probes(durationMs(spec.startupTimeout) / 1000),
    lifecycle: drainHook({ graceSeconds: graceOf(spec), port: PORT.containerPort, series: inFlight }),
    volumeMounts: mounted.map(({ volume, mount }) => ({ name: volume.name, ...mount })),
  };
}

const graceOf = ({ template }: ServingSpec) => template?.spec?.terminationGracePeriodSeconds ?? GRACE_SECONDS;

/** Fetches a model that the engine does not fetch itself, into the cache. */
function downloadOf(spec: ServingSpec, modelName: string): Container | undefined {
  const container = engineOf(spec).download?.(spec, servedModel(spec, modelName));
  if (!container) return undefined;
  const { volume, mount } = cacheOf(spec);
  const mounts = [
    { name: "home", mountPath: HOME },
    { name: volume.name, ...mount },
  ];
  const own = container.env ?? [];
  const rest = environment(modelName, spec).filter(({ name }) => !own.some((one) => one.name === name));
  return { ...container, env: [...own, ...rest], volumeMounts: mounts };
}

/** The user's variables win over all but the model's name. */
function environment(modelName: string, spec: ServingSpec): EnvVar[] {
  const { env = [] } = spec;
  const token = spec.source?.huggingFace?.tokenSecret;
  const own: EnvVar[] = [
    { name: "MODEL_NAME", value: modelName },
    { name: "HOME", value: HOME },
    { name: "USER", value: "model" },
    ...(engineOf(spec).env ?? []),
    ...(token ? [{ name: HF_TOKEN, valueFrom: { secretKeyRef: { name: token.name, key: token.key } } }] : []),
  ];
  const given = env.filter(({ name }) => name !== "MODEL_NAME");
  return [...own.filter(({ name }) => !given.some((one) => one.name === name)), ...given];
}

/** Seconds after which a rollout that gets nowhere has failed: a replica's start, and ten minutes for its node and image. */
export function progressDeadline({ startupTimeout }: ServingSpec): number {
  return Math.ceil(durationMs(startupTimeout) / 1000) + 600;
}
