import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Client, connect } from "@konverge/client";
import { realClock } from "@konverge/core";
import { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod } from "@konverge/kinds";
import { findLinuxNodes, importImage, type LinuxNode, removeLinuxNode, startLinuxNode } from "@konverge/linux-node";
import { type DebianImage, debianArchive } from "./images/debian-image.ts";
import { operatorsArchive } from "./images/dockerfile-image.ts";
import { isReal } from "./requirements.ts";
import { until } from "./waiting.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const OPERATORS_IMAGE = "konverge/operators:0.1.0";
const SHARED = { accessModes: ["ReadWriteMany", "ReadWriteOnce"], storageClassName: "shared" } as const;

export interface NodeClusterOptions {
  /** Names the cluster; two of the same name cannot run at once. */
  readonly name: string;
  /** What the nodes have besides the operators' own image. */
  readonly images: readonly DebianImage[];
  /** Whether they have the operators' own image. Default: true. */
  readonly operators?: boolean;
  /** The number of nodes. Default: 2. */
  readonly nodes?: number;
  /** Images that exist as archives. */
  readonly archives?: readonly string[];
  /** Further options of `konverge up`. */
  readonly flags?: readonly string[];
}

/**
 * A cluster with real nodes, two by default: an embedded control plane, started as a user starts it, by `konverge up --real-nodes 2`; or
 * the real one, with `npm run test:nodes -- --control-plane real`.
 */
export class NodeCluster {
  readonly client: Client;
  readonly #name: string;
  readonly #folder: string;
  readonly #archives: readonly string[];
  readonly #end: () => Promise<void>;

  private constructor(
    name: string,
    folder: string,
    client: Client,
    archives: readonly string[],
    end: () => Promise<void>,
  ) {
    this.#name = name;
    this.#folder = folder;
    this.client = client;
    this.#archives = archives;
    this.#end = end;
  }

  static async start(options: NodeClusterOptions): Promise<NodeCluster> {
    const { name, images, operators = true, nodes = 2, flags = [] } = options;
    const archives = [...(options.archives ?? [])];
    if (operators) archives.push(await operatorsArchive(REPOSITORY, `docker.io/${OPERATORS_IMAGE}`));
    for (const image of images) archives.push(await debianArchive(image));
    const folder = mkdtempSync(join(tmpdir(), "konverge-nodes-"));
    const kubeconfig = join(folder, "kubeconfig");
    const files = ["--kubeconfig", kubeconfig, "--bootstrap-kubeconfig", join(folder, "bootstrap.kubeconfig")];
    const up = [
      "up",
      "--name",
      name,
      "--real-nodes",
      String(nodes),
      "--data",
      join(folder, "data"),
      ...files,
      ...flags,
    ];
    const program = isReal() ? join(import.meta.dirname, "up-real-control-plane.ts") : cli();
    const child = spawn(process.execPath, [program, ...up], {
      cwd: REPOSITORY,
      env: { ...process.env, KONVERGE_HOME: folder },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const ended = once(child, "exit");
    // Once: a second signal changes nothing.
    let ending: Promise<void> | undefined;
    const end = () => {
      ending ??= ended.then(() => rmSync(folder, { recursive: true, force: true }));
      if (!child.killed) child.kill("SIGTERM");
      return ending;
    };
    // The nodes would outlive a test that is interrupted.
    const interrupted = () => void end().finally(() => process.exit(1));
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupted);
    try {
      const first = await Promise.race([once(child, "message"), ended.then(() => undefined)]);
      if (!first) throw new Error(`the cluster ended with code ${child.exitCode}`);
      const cluster = new NodeCluster(name, folder, await connect({ kubeconfig }), archives, end);
      await cluster.#loadImages();
      return cluster;
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** The file with which clients connect as administrators. */
  get kubeconfig(): string {
    return join(this.#folder, "kubeconfig");
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.#end();
  }

  /** A namespace whose pods have to meet the Pod Security Standard `restricted`. */
  async restrictedNamespace(name: string): Promise<void> {
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await this.client.create(Namespace, { metadata: { name, labels } });
  }

  /** A claim with a volume that pods of all nodes can write to: a folder of the machine in place of a network file system. */
  async sharedVolume(namespace: string, name: string): Promise<void> {
    await this.volumeFor(namespace, name);
    await this.client.create(PersistentVolumeClaim, {
      metadata: { namespace, name },
      spec: { ...SHARED, volumeName: name, resources: { requests: { storage: "10Gi" } } },
    });
  }

  /** A volume for a claim of the class `shared`: a folder of the machine, in which others may be already. */
  async volumeFor(namespace: string, claim: string, folders: readonly string[] = []): Promise<void> {
    const path = join(this.#folder, claim);
    mkdirSync(path);
    chmodSync(path, 0o777);
    for (const folder of folders) mkdirSync(join(path, folder), { mode: 0o700 });
    await this.client.create(PersistentVolume, {
      metadata: { name: claim },
      spec: { ...SHARED, capacity: { storage: "10Gi" }, hostPath: { path }, claimRef: { namespace, name: claim } },
    });
  }

  /** Deploys operators from their own image, with settings as flags: `--defaultImage=…`. */
  deploy(operators: string, namespace: string, ...settings: readonly string[]): void {
    const where = ["--kubeconfig", this.kubeconfig, "--namespace", namespace];
    this.#konverge("deploy", "--operators", operators, "--image", OPERATORS_IMAGE, ...where, ...settings);
  }

  /** The lines that a pod's container has printed until now. */
  async log(pod: string): Promise<string[]> {
    return await Array.fromAsync(this.client.logs(pod));
  }

  /** Kills a container's first process on its node, and so the whole container. */
  async killContainer(pod: string, container: string): Promise<void> {
    const { spec, status } = await this.client.get(Pod, pod);
    const found = status?.containerStatuses?.find(({ name }) => name === container);
    const id = found?.containerID?.replace("containerd://", "") ?? "";
    const { containerdSocket } = this.#node(spec?.nodeName ?? "");
    const kill = ["tasks", "kill", "--signal", "SIGKILL", id];
    execFileSync("ctr", ["--address", containerdSocket, "--namespace", "k8s.io", ...kill]);
  }

  /** Kills a container and waits until its kubelet has started it again. */
  async restartContainer(pod: string, container: string): Promise<void> {
    const restarts = async () =>
      (await this.client.get(Pod, pod)).status?.containerStatuses?.find(({ name }) => name === container)
        ?.restartCount ?? 0;
    const before = await restarts();
    await this.killContainer(pod, container);
    await until(`${container} has restarted`, 60, async () => ((await restarts()) > before ? true : undefined));
  }

  /** Kills the first process of a node, and so its daemons and all its containers at once. */
  async killNode(name: string): Promise<void> {
    const { pid } = this.#node(name);
    if (pid === undefined) throw new Error(`${name} does not run`);
    process.kill(pid, "SIGKILL");
    await until(`${name} has ended`, 30, async () => (this.#node(name).pid === undefined ? true : undefined));
  }

  /** Starts a killed node again, as a machine that was switched off: with what is on its disk, and without what ran. */
  async startNode(name: string): Promise<void> {
    const clock = realClock();
    const { folder } = this.#node(name);
    const certificateAuthority = readFileSync(join(folder, "ca.crt"), "utf8");
    const disk = mkdtempSync(join(this.#folder, "disk-"));
    for (const part of ["kubelet", "containerd"]) renameSync(join(folder, part), join(disk, part));
    await removeLinuxNode(this.#nodesFolder, name, clock);
    renameSync(disk, folder);
    await startLinuxNode({
      ...{ folder: this.#nodesFolder, name, client: this.client, clock, certificateAuthority },
      bootstrapKubeconfig: readFileSync(join(this.#folder, "bootstrap.kubeconfig"), "utf8"),
      volumes: join(this.#folder, "data", "volumes", name),
    });
  }

  nodeNames(): string[] {
    return findLinuxNodes(this.#nodesFolder).map(({ name }) => name);
  }

  /** Lets all pods of a namespace run on other nodes than this one. */
  async keepAway(namespace: string, node: string): Promise<void> {
    const list = async () => (await this.client.list(Pod, { namespace })).items;
    const setUnschedulable = (unschedulable: boolean) =>
      this.client.patch(Node, node, { merge: { spec: { unschedulable } } });
    await setUnschedulable(true);
    for (const { metadata, spec } of await list()) {
      if (spec?.nodeName === node) await this.client.delete(Pod, `${namespace}/${metadata.name}`);
    }
    const isElsewhere = ({ spec, status }: Pod) =>
      spec?.nodeName !== undefined &&
      spec.nodeName !== node &&
      Boolean(status?.conditions?.some((one) => one.type === "Ready" && one.status === "True"));
    await until(`pods of ${namespace} run elsewhere`, 120, async () =>
      (await list()).every(isElsewhere) ? true : undefined,
    );
    await setUnschedulable(false);
  }

  get #nodesFolder(): string {
    return join(this.#folder, "nodes", this.#name);
  }

  #node(name: string): LinuxNode {
    const node = findLinuxNodes(this.#nodesFolder).find((one) => one.name === name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }

  async #loadImages(): Promise<void> {
    for (const archive of this.#archives) {
      // `konverge image load` is for clusters that `konverge up` started.
      if (isReal()) for (const node of findLinuxNodes(this.#nodesFolder)) await importImage(node, archive);
      else this.#konverge("image", "load", archive, "--name", this.#name);
    }
  }

  #konverge(...args: string[]): void {
    const env = { ...process.env, KONVERGE_HOME: this.#folder };
    execFileSync(process.execPath, [cli(), ...args], { cwd: REPOSITORY, env, stdio: ["ignore", "pipe", "inherit"] });
  }
}

const cli = () => join(REPOSITORY, "packages/cli/bin/konverge.js");
