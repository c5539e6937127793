import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Credential, createAuthority } from "@konverge/certificates";
import { realClock } from "@konverge/core";
import { type AdminApi, call } from "./api.ts";
import * as components from "./components.ts";
import { type AssetName, findControlPlane } from "./locate.ts";
import { type GpuNodes, nodeObjects } from "./nodes.ts";
import type { RealClusterOptions } from "./options.ts";
import { freePorts } from "./ports.ts";
import { ProcessGroup, type RunningProcess } from "./processes.ts";
import { createServiceAccountKeys } from "./service-account-keys.ts";

export interface KubectlResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** A running control plane. `await using` stops it. */
export interface RealCluster extends AsyncDisposable {
  /** Path of a kubeconfig with an administrator's client certificate in it. */
  kubeconfig: string;
  url: string;
  /** The cluster's certificate authority, PEM. */
  ca: string;
  /** The same, base64, as kubeconfigs have it. */
  caData: string;
  /** Bearer token of a member of system:masters. */
  adminToken: string;
  /** Client certificate of a member of system:masters, PEM. */
  clientCert: string;
  clientKey: string;
  /** A further client certificate, for a user and groups that RBAC then has a say about. */
  issueClient(user: string, groups?: string[]): Promise<Credential>;
  /** Folder with certificates and logs; removed by stop(). */
  folder: string;
  etcd: {
    url: string;
    /** Forgets all history before now, as the API server does every few minutes. Resolves to the revision. */
    compact(): Promise<number>;
    readonly pid: number | undefined;
    /** Kills it, and starts it again on the same data; resolves when the API server is ready again. */
    restart(): Promise<void>;
  };
  readonly apiServerPid: number | undefined;
  /** Runs kubectl as administrator; does not throw on a non-zero exit code. */
  kubectl(args: string[], input?: string): Promise<KubectlResult>;
  /** End the API server, by default without grace: its connections are cut. */
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Start it again on the same port and wait until it is ready. */
  startApiServer(): Promise<void>;
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a control plane on free ports, of the loopback address unless nodes need another; throws without one (see findControlPlane). */
export async function startRealCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process can take a free port before it is used.
      if (attempt === 3 || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startOnce(options: RealClusterOptions): Promise<RealCluster> {
  const plane = findControlPlane(options.kubernetes);
  if (!plane.available) throw new Error(plane.why);
  const binary = (name: AssetName): string => {
    const path = plane.assets[name];
    if (!path) throw new Error(`${name} is not in ${plane.folder}`);
    return path;
  };
  for (const name of neededBy(options)) binary(name);

  const folder = mkdtempSync(join(tmpdir(), "konverge-real-"));
  const processes = new ProcessGroup(folder);
  try {
    const [etcdPort, etcdPeer, apiServerPort] = (await freePorts(3)) as [number, number, number];
    const address = options.nodes?.address ?? "127.0.0.1";
    const ports = { etcd: etcdPort, etcdPeer, apiServer: apiServerPort };
    const { layout, authority, admin, token } = writeFiles(folder, address, ports);
    const url = `https://${address}:${apiServerPort}`;
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const api: AdminApi = { url, ca: authority.cert, token };

    const startEtcd = () => processes.start("etcd", binary("etcd"), components.etcdFlags(layout));
    let etcd = startEtcd();
    let apiServer: RunningProcess;
    const startApiServer = async () => {
      apiServer = processes.start(
        "kube-apiserver",
        binary("kube-apiserver"),
        components.apiServerFlags(layout, options),
      );
      await ready(apiServer, api);
    };
    const stopApiServer = (signal?: NodeJS.Signals) => apiServer.kill(signal);
    await startApiServer();

    if (options.controllers) {
      processes.start("kube-controller-manager", binary("kube-controller-manager"), [
        ...components.controllerManagerFlags(layout, options),
        ...(options.controllerManagerFlags ?? []),
      ]);
    }
    if (options.scheduler)
      processes.start("kube-scheduler", binary("kube-scheduler"), components.schedulerFlags(layout));
    if (options.kwok) {
      await createNodes(api, options.kwok);
      const stages = stageFiles(folder, plane.stages, options.podStages);
      processes.start("kwok", binary("kwok"), components.kwokFlags(layout, stages));
    }
    if (options.controllers) await defaultServiceAccount(api);

    const stop = () => processes.stop();
    return {
      kubeconfig: layout.files.kubeconfig,
      url,
      ca: authority.cert,
      caData: Buffer.from(authority.cert).toString("base64"),
      adminToken: token,
      clientCert: admin.cert,
      clientKey: admin.key,
      issueClient: async (user, groups) => authority.client(user, groups),
      folder,
      etcd: {
        url: etcdUrl,
        compact: () => compact(etcdUrl),
        get pid() {
          return etcd.pid;
        },
        restart: async () => {
          await etcd.kill();
          etcd = startEtcd();
          await ready(apiServer, api);
        },
      },
      get apiServerPid() {
        return apiServer.pid;
      },
      kubectl: (args, input) => kubectl(binary("kubectl"), layout.files.kubeconfig, folder, args, input),
      stopApiServer,
      startApiServer,
      restartApiServer: async (signal) => {
        await stopApiServer(signal);
        await startApiServer();
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

/** The files with KWOK's `Stage` objects for nodes and pods. */
function stageFiles(folder: string, own: readonly string[], podStages: readonly object[] | undefined): string[] {
  if (!podStages) return [...own];
  const ofNodes = own.filter((path) => basename(path).startsWith("node-"));
  const given = podStages.map((stage, index) => {
    const path = join(folder, `pod-stage-${index}.yaml`);
    writeFileSync(path, JSON.stringify(stage));
    return path;
  });
  return [...ofNodes, ...given];
}

function neededBy(options: RealClusterOptions): AssetName[] {
  const names: AssetName[] = ["etcd", "kube-apiserver", "kubectl"];
  if (options.controllers) names.push("kube-controller-manager");
  if (options.scheduler) names.push("kube-scheduler");
  if (options.kwok) names.push("kwok");
  return names;
}

function writeFiles(folder: string, address: string, ports: components.Layout["ports"]) {
  const authority = createAuthority(realClock(), { name: "kubernetes" });
  const proxyAuthority = createAuthority(realClock(), { name: "front-proxy" });
  const serviceAccounts = createServiceAccountKeys();
  const server = authority.server("kube-apiserver", [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    address,
    "10.96.0.1",
  ]);
  const admin = authority.client("kubernetes-admin", ["system:masters"]);
  const proxy = proxyAuthority.client("front-proxy-client");
  const kubeletClient = authority.client("kube-apiserver-kubelet-client");
  const token = randomBytes(24).toString("base64url");
  const kubeconfig = join(folder, "kubeconfig");
  const contents: Record<components.FileName, string> = {
    "ca.crt": authority.cert,
    "ca.key": authority.key,
    "apiserver.crt": server.cert,
    "apiserver.key": server.key,
    "proxy-ca.crt": proxyAuthority.cert,
    "proxy.crt": proxy.cert,
    "proxy.key": proxy.key,
    "kubelet-client.crt": kubeletClient.cert,
    "kubelet-client.key": kubeletClient.key,
    "sa.key": serviceAccounts.privateKey,
    "sa.pub": serviceAccounts.publicKey,
    "tokens.csv": `${token},admin,admin,"system:masters"\n`,
    kubeconfig: JSON.stringify(
      components.kubeconfigObject(`https://${address}:${ports.apiServer}`, authority.cert, admin),
    ),
    "scheduler.yaml": JSON.stringify(components.schedulerConfiguration(kubeconfig)),
    "audit-policy.yaml": JSON.stringify(components.auditPolicy),
  };
  const files = {} as Record<components.FileName, string>;
  for (const name of Object.keys(contents) as components.FileName[]) {
    files[name] = join(folder, name);
    writeFileSync(files[name], contents[name], { mode: 0o600 });
  }
  const layout: components.Layout = { folder, address, ports, files };
  return { layout, authority, admin, token };
}

async function ready(server: RunningProcess, api: AdminApi): Promise<void> {
  const deadline = Date.now() + 120_000;
  let last = "";
  while (Date.now() < deadline) {
    if (!server.alive) throw server.failure();
    try {
      const answer = await call(api, "GET", "/readyz");
      if (answer.status === 200) return;
      last = answer.body;
    } catch (error) {
      last = String(error);
    }
    await sleep(100);
  }
  throw new Error(`kube-apiserver was not ready within 120 s: ${last}\n${server.logTail()}`);
}

async function createNodes(api: AdminApi, options: GpuNodes): Promise<void> {
  // Each call opens a new connection: a thousand at once would time out in their handshakes.
  const waiting = nodeObjects(options).values();
  const worker = async () => {
    for (const node of waiting) {
      const answer = await call(api, "POST", "/api/v1/nodes", node);
      if (answer.status !== 201) throw new Error(`cannot create a node: ${answer.body}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
}

/** Pods of the default namespace are refused until the controller manager has made its service account. */
async function defaultServiceAccount(api: AdminApi): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await call(api, "GET", "/api/v1/namespaces/default/serviceaccounts/default")).status !== 200) {
    if (Date.now() > deadline) throw new Error("kube-controller-manager made no default service account within 60 s");
    await sleep(100);
  }
}

async function compact(url: string): Promise<number> {
  const ask = async (path: string, body: object) => {
    const answer = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { header: { revision: string } };
  };
  const { header } = await ask("/v3/kv/range", { key: Buffer.from("/").toString("base64"), limit: "1" });
  await ask("/v3/kv/compaction", { revision: header.revision, physical: true });
  return Number(header.revision);
}

function kubectl(
  path: string,
  kubeconfig: string,
  folder: string,
  args: string[],
  input?: string,
): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const child = execFile(
      path,
      args,
      {
        maxBuffer: 1 << 28,
        env: {
          PATH: process.env.PATH ?? "",
          HOME: folder,
          KUBECONFIG: kubeconfig,
          KUBECACHEDIR: join(folder, "kubectl-cache"),
        },
      },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ code, stdout, stderr: error && !stderr ? String(error.message) : stderr });
      },
    );
    child.stdin?.end(input);
  });
}
