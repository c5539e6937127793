import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfigMap, Container, PodSpec, Secret } from "konverge/kinds";

/** What a rendered container is given in place of a cluster. */
export interface ContainerSetting {
  /** ConfigMaps that its volumes and variables refer to. */
  readonly configMaps?: readonly ConfigMap[];
  readonly secrets?: readonly Secret[];
  /** The folders here that stand for its volumes, by mount path. Those of ConfigMaps are made from the ConfigMaps. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Variables that differ here: hosts, ports. Undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What is to be run for a container. */
export interface ContainerCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The file of its termination message. */
  readonly report: string;
}

const TERMINATION_LOG = "/dev/termination-log";

/**
 * A container of a rendered pod as a command for this machine: its words and variables as they are, except that folders of
 * the pod are folders here. `work` is an empty folder for what has to be made for it.
 */
export function containerCommand(
  pod: PodSpec,
  name: string,
  setting: ContainerSetting,
  work: string,
): ContainerCommand {
  const container = [...pod.containers, ...(pod.initContainers ?? [])].find((one) => one.name === name);
  if (!container) throw new Error(`the pod has no container ${name}`);
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (words.length === 0) throw new Error(`the container ${name} has no command of its own`);
  const report = join(work, "termination-log");
  writeFileSync(report, "");
  const folders = { ...mounted(pod, container, setting, work), ...setting.folders, [TERMINATION_LOG]: report };
  const here = translation(folders);
  const env: Record<string, string> = {};
  for (const variable of container.env ?? []) {
    if (setting.env && variable.name in setting.env) continue;
    env[variable.name] = here(valueFor(variable, setting));
  }
  for (const [variable, value] of Object.entries(setting.env ?? {})) if (value !== undefined) env[variable] = value;
  return { words: words.map(here), env, report };
}

/** ConfigMaps and Secrets as files; other volumes as empty folders. */
function mounted(pod: PodSpec, { volumeMounts = [] }: Container, setting: ContainerSetting, work: string) {
  const folders: Record<string, string> = {};
  for (const { name, mountPath } of volumeMounts) {
    if (setting.folders?.[mountPath]) continue;
    const volume = pod.volumes?.find((one) => one.name === name);
    const folder = join(work, name);
    mkdirSync(folder, { recursive: true });
    folders[mountPath] = folder;
    for (const [file, text] of Object.entries(filesOf(volume, setting))) {
      writeFileSync(join(folder, file), text, { mode: 0o755 });
    }
  }
  return folders;
}

function filesOf(volume: NonNullable<PodSpec["volumes"]>[number] | undefined, setting: ContainerSetting) {
  if (volume?.configMap?.name) return named("ConfigMap", setting.configMaps, volume.configMap.name).data ?? {};
  if (volume?.secret?.secretName) return secretFiles(volume.secret.secretName, setting);
  const files: Record<string, string> = {};
  for (const { secret } of volume?.projected?.sources ?? []) {
    const all = secretFiles(secret?.name ?? "", setting);
    for (const { key, path } of secret?.items ?? []) files[path] = all[key] ?? "";
  }
  return files;
}

function secretFiles(name: string, setting: ContainerSetting): Record<string, string> {
  const data = named("Secret", setting.secrets, name).data ?? {};
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decoded(value)]));
}

function valueFor(variable: NonNullable<Container["env"]>[number], setting: ContainerSetting): string {
  const { value, valueFrom, name } = variable;
  if (!valueFrom) return value ?? "";
  const { secretKeyRef, configMapKeyRef } = valueFrom;
  if (secretKeyRef) {
    const data = named("Secret", setting.secrets, secretKeyRef.name ?? "").data?.[secretKeyRef.key];
    if (data !== undefined) return decoded(data);
    if (secretKeyRef.optional) return "";
    throw new Error(`the Secret ${secretKeyRef.name} has no ${secretKeyRef.key}`);
  }
  if (configMapKeyRef)
    return named("ConfigMap", setting.configMaps, configMapKeyRef.name ?? "").data?.[configMapKeyRef.key] ?? "";
  throw new Error(`the variable ${name} comes from the pod itself: say in env what it is here`);
}

function named<T extends ConfigMap | Secret>(kind: string, all: readonly T[] | undefined, name: string): T {
  const found = all?.find(({ metadata }) => metadata?.name === name);
  if (!found) throw new Error(`the container needs the ${kind} ${name}, which is not given`);
  return found;
}

const decoded = (text: string) => Buffer.from(text, "base64").toString();

/** Replaces paths of the pod by paths here, wherever a path begins. */
function translation(folders: Readonly<Record<string, string>>): (text: string) => string {
  const paths = Object.keys(folders).sort((a, b) => b.length - a.length);
  const escaped = paths.map((path) => path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\w./-])(${escaped.join("|")})(?![\\w.-])`, "g");
  return (text) => text.replaceAll(pattern, (path) => folders[path]!);
}
