/** Pipe tasks: a pod writes files, which become ConfigMaps and Secrets. */
import { posix } from "node:path";
import type { KubeObject } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { Instance, Task } from "./kudo-kinds.ts";
import { FatalTaskError, type TaskPlace, TransientTaskError } from "./run-plan.ts";
import { pipeName } from "./task-drafts.ts";

/** Runs a command in a container of a pod: its exit code and output. */
export type ExecInPod = (
  key: string,
  container: string,
  command: readonly string[],
) => Promise<{ code: number; output: Uint8Array }>;

type PipeFile = NonNullable<NonNullable<NonNullable<Task["spec"]>["pipe"]>[number]>;

const WAITER = "waiter";
const LARGEST = 2 ** 20;
const invalid = (message: string) => new FatalTaskError("ResourceValidationError", message);

/** The pod of a pipe task: the user's init container writes the files, and a second one waits until they have been read. */
export function pipePod(
  rendered: KubeObject | undefined,
  task: Task,
  instance: Instance,
  place: TaskPlace,
): KubeObject {
  const files = task.spec?.pipe ?? [];
  if (files.length === 0) throw invalid("pipe task has an empty pipe files list");
  for (const file of files) checkFile(file);
  const pod = rendered as Pod | undefined;
  if (pod?.kind !== "Pod") throw invalid(`the template ${task.spec?.pod} renders no Pod`);
  const { initContainers = [], volumes = [], containers = [], restartPolicy } = pod.spec ?? { containers: [] };
  if (containers.length > 0)
    throw invalid("pipe pod should not have containers. pipe artifacts are generated in the init container");
  if (initContainers.length !== 1)
    throw invalid("pipe pod should define one init container that generated artifacts defined");
  if (restartPolicy && restartPolicy !== "OnFailure") throw invalid("pipe pod RestartPolicy should be OnFailure");
  const shared = volumes.filter(({ emptyDir }) => emptyDir !== undefined);
  if (shared.length !== 1)
    throw invalid("pipe pod should define one emptyDir shared volume where the artifacts are temporary stored");
  const volume = shared[0]!.name!;
  const mountPath = initContainers[0]!.volumeMounts?.find(({ name }) => name === volume)?.mountPath;
  if (!mountPath) throw invalid(`pipe pod should save generated artifacts in ${volume}`);
  for (const file of files) {
    const path = posix.relative(mountPath, sourceOf(file));
    if (path === "" || path.startsWith("."))
      throw invalid(`pipe file ${sourceOf(file)} should be a child of ${mountPath} mount path`);
  }
  const waiter = {
    name: WAITER,
    image: "busybox",
    command: ["/bin/sh", "-c"],
    args: ["sleep infinity"],
    volumeMounts: [{ name: volume, mountPath }],
  };
  const annotations = { ...pod.metadata.annotations, "kudo.dev/pipepod": "true" };
  return {
    ...pod,
    metadata: { ...pod.metadata, name: pipeName(instance, place, "pipepod"), annotations },
    spec: { ...pod.spec, restartPolicy: "OnFailure", containers: [waiter] },
  } as KubeObject;
}

function checkFile({ file, envFile, kind, key }: PipeFile): void {
  if ((file ? 1 : 0) + (envFile ? 1 : 0) !== 1)
    throw invalid(`pipe file ${key} must have either 'file' or 'envFile' field set but not both`);
  if (kind !== "Secret" && kind !== "ConfigMap")
    throw invalid(`invalid pipe kind (must be Secret or ConfigMap): ${kind}`);
  if (!/^[a-zA-Z0-9_-]+$/.test(key ?? ""))
    throw invalid(`invalid pipe key (only letters, numbers and _ and - are allowed): ${key}`);
}

const sourceOf = ({ file, envFile }: PipeFile) => file || envFile || "";

/** What the files of a pod that is ready become. */
export async function pipeArtifacts(
  pod: KubeObject,
  task: Task,
  instance: Instance,
  place: TaskPlace,
  exec: ExecInPod,
) {
  const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const made: KubeObject[] = [];
  for (const file of task.spec?.pipe ?? []) {
    const source = sourceOf(file);
    const { code, output } = await read(exec, key, source);
    if (code !== 0)
      throw new FatalTaskError("PipeTaskError", `pipe file ${source} cannot be read: cat ended with exit code ${code}`);
    if (output.length > LARGEST)
      throw new FatalTaskError(
        "PipeTaskError",
        `pipe file ${source} size ${output.length} exceeds maximum file size of ${LARGEST} bytes`,
      );
    made.push(artifact(file, output, pipeName(instance, place, file.key!)));
  }
  return made;
}

async function read(exec: ExecInPod, key: string, source: string) {
  try {
    return await exec(key, WAITER, ["cat", source]);
  } catch (error) {
    throw new TransientTaskError(`pipe file ${source} cannot be read: ${(error as Error).message}`);
  }
}

function artifact(file: PipeFile, output: Uint8Array, name: string): KubeObject {
  const base64 = (value: Uint8Array | string) => Buffer.from(value).toString("base64");
  const object = { apiVersion: "v1", kind: file.kind!, metadata: { name } };
  if (file.file) {
    const entries = { [posix.basename(file.file)]: base64(output) };
    const content = file.kind === "Secret" ? { type: "Opaque", data: entries } : { binaryData: entries };
    return { ...object, ...content } as KubeObject;
  }
  const variables = variablesIn(new TextDecoder().decode(output), file.envFile!);
  const values = Object.entries(variables).map(([key, value]) => [key, file.kind === "Secret" ? base64(value) : value]);
  const data = Object.fromEntries(values) as Record<string, string>;
  return { ...object, ...(file.kind === "Secret" && { type: "Opaque" }), data } as KubeObject;
}

function variablesIn(text: string, source: string): Record<string, string> {
  const all: Record<string, string> = {};
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const given = line.trimStart();
    if (given === "" || given.startsWith("#")) continue;
    const [, key, value] = /^([-._a-zA-Z][-._a-zA-Z0-9]*)=(.*)$/.exec(given) ?? [];
    if (key === undefined)
      throw new FatalTaskError(
        "PipeTaskError",
        `failed to read env var file "${source}": ${JSON.stringify(given)} is not KEY=VAL`,
      );
    all[key] = value!;
  }
  return all;
}
