import type { Affinity, Container, EnvVar, PodTemplateSpec, Volume, VolumeMount } from "konverge/kinds";
import { drainHook, gpuProductAffinity, podTemplate } from "konverge/pods";
import { durationMs } from "konverge/time";
import type { ServingSpec } from "./serving-spec.ts";

/** The port on which vLLM answers, and its name in pods and Services. */
export const PORT = { name: "http", containerPort: 8000 } as const;

/** Marks all that this operator makes; it watches only pods with it. */
export const MANAGED = { "app.kubernetes.io/managed-by": "llm-operator" } as const;

/** The server's image would run as root. This user has no entry in its /etc/passwd: HOME and USER stand for one. */
const USER = 1000;
const HOME = "/home/model";
const CACHE_FOLDER = `${HOME}/.cache/huggingface`;
/** Where the files of a model are mounted that come from a claim. */
const CLAIM_FOLDER = "/mnt/models";

/** What a replica has taken on it may finish before it ends: long generations take minutes. */
const GRACE_SECONDS = 310;
const IN_FLIGHT = ["vllm:num_requests_running", "vllm:num_requests_waiting"];

/** Where a model's files are, if it is not fetched by its name. */
export type ModelSource = { readonly folder: string } | { readonly claim: string; readonly path: string } | undefined;

/** Reads `modelPath`. */
export function modelSource(modelPath: string | undefined): ModelSource {
  if (!modelPath) return undefined;
  const [, claim, path = ""] = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelPath) ?? [];
  return claim ? { claim, path } : { folder: modelPath };
}

/** The model that the server loads, and its folder, if it has one. */
export function modelLocation(modelPath: string | undefined): string | undefined {
  const source = modelSource(modelPath);
  if (!source) return undefined;
  return "folder" in source ? source.folder : `${CLAIM_FOLDER}/${source.path}`.replace(/\/$/, "");
}

/** The claims that must exist for a replica to start. */
export function claimsOf({ modelPath, cacheClaim }: ServingSpec): string[] {
  const source = modelSource(modelPath);
  return [...(source && "claim" in source ? [source.claim] : []), ...(cacheClaim ? [cacheClaim] : [])];
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
  const mounted = [...volumesFor(spec), ...(server.volumes ?? [])];
  return podTemplate(
    {
      ...(server.metadata && { metadata: server.metadata }),
      spec: {
        ...((spec.gpuType || server.together) && {
          affinity: { ...(spec.gpuType && gpuProductAffinity(server.products)), ...server.together },
        }),
        terminationGracePeriodSeconds: GRACE_SECONDS,
        containers: [containerFor(spec, server, mounted)],
        volumes: mounted.map(({ volume }) => volume),
      },
    },
    { overlay: spec.template, user: USER },
  );
}

/** A volume, and where the server finds it. */
export interface Mounted {
  readonly volume: Volume;
  readonly mount: Omit<VolumeMount, "name">;
}

function volumesFor({ modelPath, cacheClaim, sharedMemory }: ServingSpec): Mounted[] {
  const source = modelSource(modelPath);
  const mounted: Mounted[] = [
    {
      volume: { name: "shared-memory", emptyDir: { medium: "Memory", sizeLimit: String(sharedMemory) } },
      mount: { mountPath: "/dev/shm" },
    },
    { volume: { name: "home", emptyDir: {} }, mount: { mountPath: HOME } },
  ];
  if (source && "folder" in source) {
    mounted.push({
      volume: { name: "model", hostPath: { path: source.folder, type: "Directory" } },
      mount: { mountPath: source.folder, readOnly: true },
    });
  } else if (source) {
    mounted.push({
      volume: { name: "model", persistentVolumeClaim: { claimName: source.claim, readOnly: true } },
      mount: { mountPath: CLAIM_FOLDER, readOnly: true },
    });
  }
  if (cacheClaim) {
    mounted.push({
      volume: { name: "cache", persistentVolumeClaim: { claimName: cacheClaim } },
      mount: { mountPath: CACHE_FOLDER },
    });
  }
  return mounted;
}

function containerFor(
  spec: ServingSpec,
  { modelName, args }: { modelName: string; args: readonly string[] },
  mounted: readonly Mounted[],
): Container {
  const { gpuCount, image, env = [] } = spec;
  const health = { httpGet: { path: "/health", port: PORT.name } };
  return {
    name: "model",
    image,
    args: [...args, ...(spec.args ?? [])],
    env: environment(modelName, env),
    ports: [PORT],
    ...(gpuCount > 0 && { resources: { limits: { "nvidia.com/gpu": String(gpuCount) } } }),
    startupProbe: { ...health, periodSeconds: 10, failureThreshold: startupTries(spec) },
    readinessProbe: { ...health, periodSeconds: 5 },
    livenessProbe: { ...health, periodSeconds: 10, failureThreshold: 6 },
    lifecycle: drainHook({ graceSeconds: graceOf(spec), port: PORT.containerPort, series: IN_FLIGHT }),
    volumeMounts: mounted.map(({ volume, mount }) => ({ name: volume.name, ...mount })),
  };
}

const graceOf = ({ template }: ServingSpec) => template?.spec?.terminationGracePeriodSeconds ?? GRACE_SECONDS;

/** The user's variables win over all but the model's name. */
function environment(modelName: string, env: NonNullable<ServingSpec["env"]>): EnvVar[] {
  const own = [
    { name: "MODEL_NAME", value: modelName },
    { name: "HOME", value: HOME },
    { name: "USER", value: "model" },
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
