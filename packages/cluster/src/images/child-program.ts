import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { ConfinedFolder, containerPath } from "./confined-path.ts";
import { runChild } from "./container-child.ts";
import { IDENTITY } from "./files.ts";
import type { ContainerProcess, Program } from "./image.ts";
import { refusalOf } from "./refused-variables.ts";

/** How a program is started as a process of this machine. */
export interface ChildProgramOptions {
  readonly cwd?: string;
  /** Further variables. They win over those of the container. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Ports of this machine that stand for the same ports of its pods, for a program that listens nowhere else. A
   * connection to such a pod reaches what listens there, be it this program or another one. Default: none.
   */
  readonly hostPorts?: readonly number[];
}

/** In the container's folder. */
const KUBECONFIG = "/kubeconfig";

/** Variables of this machine without which hardly anything starts. */
const KEPT = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "USERPROFILE", "LANG"];

/**
 * A program that runs as a process of this machine, as the user that runs the cluster. The container's args follow the
 * command; its environment is the container's, and besides:
 * - `KONVERGE_ROOT`: the folder in which the files of its volumes lie under their paths;
 * - `KONVERGE_SERVICE_ACCOUNT`: what a container has at /var/run/secrets/kubernetes.io/serviceaccount;
 * - `KUBECONFIG`: the same identity, for clients that look nowhere else;
 * - `KONVERGE_PORT_<n>`: a free port of the loopback interface to listen on in place of the pod's port n.
 *
 * Anyone who can create pods chooses args and environment: register a program only if it is safe to call with any args.
 * Variables that would change which code it loads or who it is are refused, with an event of the pod.
 *
 * ```ts
 * cluster.image("example/web", { run: childProgram(["node", "web.js"]) });
 * ```
 */
export function childProgram(command: readonly string[], options: ChildProgramOptions = {}): Program {
  const [file, ...words] = command;
  if (file === undefined) throw new TypeError("childProgram: the command is empty");
  return async (container) => {
    const own = { ...(await environmentOf(container, options)), ...options.env };
    const env = { ...kept(), ...acceptedVariables(container, own), ...own };
    const { cwd } = options;
    return runChild(container, { file, args: [...words, ...container.args], env, ...(cwd !== undefined && { cwd }) });
  };
}

/** The variables of a container that its process gets. An event names the others. */
function acceptedVariables(
  { env, container, warn }: ContainerProcess,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const taken = new Set(Object.keys(own).map((name) => name.toUpperCase()));
  const isRefused = (name: string) => refusalOf(name) !== undefined || taken.has(name.toUpperCase());
  const refused = Object.keys(env).filter(isRefused).sort();
  if (refused.length > 0) {
    const why = [
      ...new Set(refused.map((name) => refusalOf(name) ?? "the program was registered with a value for it")),
    ];
    warn(
      "RefusedEnvironmentVariables",
      `Container ${container.name} runs as a process of the cluster's machine, where a pod cannot set ${refused.join(", ")}: ${why.join("; ")}`,
    );
  }
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isRefused(name)));
}

function kept(): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function environmentOf(
  process: ContainerProcess,
  { hostPorts = [] }: ChildProgramOptions,
): Promise<Record<string, string>> {
  const root = await process.folder();
  const folder = new ConfinedFolder(root);
  const account = folder.pathOf(IDENTITY);
  // Volumes without content (emptyDir, claims) are empty folders, for this run of the container only.
  for (const { mountPath } of process.container.volumeMounts ?? []) {
    if (!process.files.has(containerPath(mountPath))) await folder.makeFolder(mountPath);
  }
  await folder.write(KUBECONFIG, kubeconfigOf(account, process));
  const env: Record<string, string> = {
    KONVERGE_ROOT: root,
    KONVERGE_SERVICE_ACCOUNT: account,
    KUBECONFIG: folder.pathOf(KUBECONFIG),
  };
  for (const { containerPort } of process.container.ports ?? []) {
    const local = await freePort();
    const onHost = hostPorts.includes(containerPort) ? [{ port: containerPort }] : [];
    process.expose(containerPort, { port: local }, ...onHost);
    env[`KONVERGE_PORT_${containerPort}`] = String(local);
  }
  return env;
}

/**
 * Token and certificate are named by their files, which are renewed. A pod without a token has a kubeconfig too, which
 * names no user: without one, clients would take that of the person who runs the cluster.
 */
function kubeconfigOf(account: string, { pod, files, env }: ContainerProcess): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const name = "pod";
  const user = files.has(`${IDENTITY}/token`) ? { tokenFile: join(account, "token") } : {};
  const ca = files.has(`${IDENTITY}/ca.crt`) ? { "certificate-authority": join(account, "ca.crt") } : {};
  const isKnown = host !== undefined && port !== undefined;
  // JSON is YAML.
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: isKnown ? [{ name, cluster: { server: `https://${host}:${port}`, ...ca } }] : [],
    users: [{ name, user }],
    contexts: isKnown ? [{ name, context: { cluster: name, user: name, namespace: pod.metadata.namespace } }] : [],
    "current-context": isKnown ? name : "",
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
