import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ConfinedFolder, containerPath } from "./confined-path.ts";
import { IDENTITY } from "./files.ts";
import type { ContainerProcess, Program } from "./image.ts";
import { endsWithUs } from "./survivors.ts";

/** How a program is started as a process of this machine. */
export interface ChildProgramOptions {
  readonly cwd?: string;
  /** Further variables; those of the container win. */
  readonly env?: Readonly<Record<string, string>>;
}

/** In the container's folder. */
const KUBECONFIG = "/kubeconfig";

/** Variables of this machine without which hardly anything starts. */
const KEPT = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "USERPROFILE", "LANG"];

/**
 * A program that runs as a process of this machine. The container's args follow the command; its environment is the
 * container's, and besides:
 * - `KONVERGE_ROOT`: the folder in which the files of its volumes lie under their paths;
 * - `KONVERGE_SERVICE_ACCOUNT`: what a container has at /var/run/secrets/kubernetes.io/serviceaccount;
 * - `KUBECONFIG`, unless the container sets it: the same identity, for clients that look nowhere else;
 * - `KONVERGE_PORT_<n>`: a free port to listen on in place of the pod's port n. Programs that do not heed it listen on port
 *   n of this machine, which only one of them can.
 *
 * ```ts
 * cluster.image("example/web", { run: childProgram(["node", "web.js"]) });
 * ```
 */
export function childProgram(command: readonly string[], options: ChildProgramOptions = {}): Program {
  const [file, ...words] = command;
  if (file === undefined) throw new TypeError("childProgram: the command is empty");
  return async (container) => {
    const env = { ...kept(), ...options.env, ...(await environmentOf(container)), ...container.env };
    if (container.killed.aborted) return 137;
    const child = spawn(file, [...words, ...container.args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      // A group of its own, so that what a shell starts ends with it.
      detached: process.platform !== "win32",
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    const ended = child.pid === undefined ? undefined : endsWithUs(child.pid);
    return await watched(child, container).finally(ended);
  };
}

async function watched(child: ChildProcess, container: ContainerProcess): Promise<number> {
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (chunk: Buffer) => container.write(decoder.write(chunk)));
  }
  const signal = (name: "SIGTERM" | "SIGKILL") => () => send(child, name);
  const [onStop, onKill] = [signal("SIGTERM"), signal("SIGKILL")];
  container.stop.addEventListener("abort", onStop, { once: true });
  container.killed.addEventListener("abort", onKill, { once: true });
  if (container.stop.aborted) onStop();
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const failed = once(child, "error").then(([error]) => Promise.reject(error as Error));
  failed.catch(() => {});
  try {
    const [code, by] = await Promise.race([ended, failed]);
    return code ?? 128 + (by ? constants.signals[by] : 0);
  } finally {
    container.stop.removeEventListener("abort", onStop);
    container.killed.removeEventListener("abort", onKill);
  }
}

function send(child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // It is gone already.
  }
}

function kept(): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function environmentOf(process: ContainerProcess): Promise<Record<string, string>> {
  const root = await process.folder();
  const folder = new ConfinedFolder(root);
  const account = folder.pathOf(IDENTITY);
  // Volumes without files of their own (emptyDir, claims) are empty folders, for this run of the container alone.
  for (const { mountPath } of process.container.volumeMounts ?? []) {
    if (!process.files.has(containerPath(mountPath))) await folder.makeFolder(mountPath);
  }
  const env: Record<string, string> = { KONVERGE_ROOT: root, KONVERGE_SERVICE_ACCOUNT: account };
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (host && port && process.files.has(`${IDENTITY}/token`)) {
    env["KUBECONFIG"] = folder.pathOf(KUBECONFIG);
    await folder.write(KUBECONFIG, kubeconfigOf(`https://${host}:${port}`, account, process));
  }
  for (const { containerPort } of process.container.ports ?? []) {
    const local = await freePort();
    process.expose(containerPort, { port: local }, { port: containerPort });
    env[`KONVERGE_PORT_${containerPort}`] = String(local);
  }
  return env;
}

/** JSON is YAML. Token and certificate are named by their files, which are renewed. */
function kubeconfigOf(server: string, account: string, { pod }: ContainerProcess): string {
  const name = "pod";
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority": join(account, "ca.crt") } }],
    users: [{ name, user: { tokenFile: join(account, "token") } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: pod.metadata.namespace } }],
    "current-context": name,
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
