import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiServer, type Authority, createAuthority, type Guard, listen, SERVER_NAMES } from "@konverge/apiserver";
import { startCluster } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { findControlPlane, type RealClusterOptions, startRealCluster } from "@konverge/real";
import { type Session, session } from "./session.ts";

/** A server that kubectl is pointed at. */
export interface Server extends AsyncDisposable {
  readonly name: Session["server"];
  /** kubectl, with a namespace as the one that commands are about. */
  session(namespace: string): Session;
}

interface Access {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** A real control plane, with whatever of it the options ask for. */
export async function realServer(options: RealClusterOptions = {}): Promise<Server> {
  const cluster = await startRealCluster(options);
  const access = { url: cluster.url, ca: cluster.ca, cert: cluster.clientCert, key: cluster.clientKey };
  return server("real", access, () => cluster.stop());
}

/** The embedded API server alone, as a real one is without its controller manager. */
export async function embeddedServer(): Promise<Server> {
  const api = new ApiServer();
  return listening(api.guard, async () => api.close());
}

/** The embedded cluster: its API server, controllers and nodes. */
export async function embeddedCluster(): Promise<Server> {
  const cluster = await startCluster();
  return listening(cluster.server.guard, () => cluster.stop());
}

async function listening(guard: Guard, stop: () => Promise<void>): Promise<Server> {
  const authority: Authority = createAuthority(realClock());
  const port = await listen(guard, {
    tls: { ...authority.server("kube-apiserver", SERVER_NAMES), clientCa: authority.cert },
    onError: (error, { method, path }) => console.error(`${method} ${path}:`, error),
  });
  const access = { url: port.url, ca: authority.cert, ...authority.client("kubernetes-admin", ["system:masters"]) };
  return server("embedded", access, async () => {
    await port.close();
    await stop();
  });
}

function server(name: Session["server"], access: Access, stop: () => Promise<void>): Server {
  const plane = findControlPlane();
  if (!plane.available) throw new Error(plane.why);
  const { kubectl } = plane.assets;
  if (!kubectl) throw new Error(`${plane.folder} has no kubectl`);
  const home = mkdtempSync(join(tmpdir(), "konverge-kubectl-"));
  return {
    name,
    session(namespace) {
      const kubeconfig = join(home, `${namespace}.kubeconfig`);
      writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(access, namespace)), { mode: 0o600 });
      return session(name, { kubectl, kubeconfig, home });
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function kubeconfigOf({ url, ca, cert, key }: Access, namespace: string): object {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "suite", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [{ name: "suite", user: { "client-certificate-data": base64(cert), "client-key-data": base64(key) } }],
    contexts: [{ name: "suite", context: { cluster: "suite", user: "suite", namespace } }],
    "current-context": "suite",
  };
}
