import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@konverge/client";
import type { KindRef, KubeObject, Transport } from "@konverge/core";
import { ConfigMap, Deployment, Namespace, Secret } from "@konverge/kinds";
import type { RealCluster } from "@konverge/real";
import { type Controller, Manager, type ManagerOptions } from "@konverge/runtime";
import { httpsTransport } from "./https-transport.ts";
import { logTo, type Stage, Widget } from "./stage.ts";

/** Nothing has happened for this long, in milliseconds, when it counts as settled. */
const QUIET = 400;

/** The stage of a scenario that is played on a real control plane, and the clearing up after it. */
export function realStage(cluster: RealCluster): Stage & AsyncDisposable {
  const transport = httpsTransport(cluster.url, { ca: cluster.ca, cert: cluster.clientCert, key: cluster.clientKey });
  const user = new Client(transport, { fieldManager: "user" });
  const requests: string[] = [];
  const complaints: string[] = [];
  const managers: Manager[] = [];
  let lastRequest = performance.now();
  const noted: Transport = (request) => {
    lastRequest = performance.now();
    if (!request.path.includes("watch=true")) requests.push(`${request.method} ${request.path}`);
    return self.interfere ? self.interfere(request, transport) : transport(request);
  };
  const manager = (controllers: Controller | Controller[], more: Partial<ManagerOptions> = {}) => {
    const made = new Manager("kind" in controllers ? [controllers] : controllers, {
      client: new Client(noted),
      log: logTo(complaints),
      ...more,
    });
    managers.push(made);
    return made;
  };
  const isIdle = () =>
    managers.every((one) =>
      [...one.controllers()].every(({ depth, working, retrying }) => depth + working + retrying === 0),
    );
  const self: Stage & AsyncDisposable = {
    get clock(): never {
      throw new Error("a real server has no virtual time");
    },
    get server(): never {
      throw new Error("a real server is not in this process");
    },
    user,
    requests,
    warnings: complaints,
    interfere: undefined,
    manager,
    async run(controllers, more) {
      const made = manager(controllers, more);
      await made.start();
      return made;
    },
    during: (promise) => promise,
    async settle() {
      const started = performance.now();
      let quietSince = started;
      while (performance.now() - quietSince < QUIET) {
        await pause(20);
        if (!isIdle() || lastRequest > quietSince) quietSince = performance.now();
        if (performance.now() - started > 60_000) throw new Error("it does not settle");
      }
    },
    writes() {
      const writes = requests.filter((request) => !request.startsWith("GET "));
      requests.length = 0;
      return writes.map((request) => request.split("?")[0]!);
    },
    exists: (kind, key) =>
      user.get(kind, key).then(
        () => true,
        () => false,
      ),
    widget: (name, spec = {}) => user.create(Widget.new({ metadata: { name, namespace: "default" }, spec })),
    async [Symbol.asyncDispose]() {
      for (const one of managers) await one.stop();
      for (const kind of [Widget, ConfigMap, Secret, Deployment] as KindRef<KubeObject>[]) await clear(user, kind);
    },
  };
  return self;
}

/** Removes all objects of a kind that scenarios may have left, whatever holds them. */
async function clear(user: Client, kind: KindRef<KubeObject>): Promise<void> {
  for (const namespace of ["default", "other"]) {
    for (const { metadata } of (await user.list(kind, { namespace })).items) {
      if (metadata.name === "kube-root-ca.crt") continue;
      const key = `${namespace}/${metadata.name}`;
      await user.patch(kind, key, { merge: { metadata: { finalizers: null } } } as never).catch(() => {});
      await user.delete(kind, key).catch(() => {});
    }
  }
}

/** What the scenarios expect to be there. */
export async function prepare(user: Client): Promise<void> {
  await user.create(Namespace, { metadata: { name: "other" } });
}
