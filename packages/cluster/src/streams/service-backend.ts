import type { ApiServer } from "@konverge/apiserver";
import { selectsLabels } from "@konverge/core";
import type { Pod, Service, ServicePort } from "@konverge/kinds";

/** A pod behind a Service, and which of its ports is meant. */
export interface Backend {
  readonly pod: Pod;
  readonly port: number;
}

/** How a request for a Service ended before it reached a pod. */
export class NoBackendError extends Error {
  override readonly name = "NoBackendError";
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/**
 * The pods behind Services, as proxies find them: only those that are ready.
 *
 * Services and pods are read from the store, not by a request: the server itself asks while it waits for a webhook's answer, and must
 * not have to wait for itself.
 */
export class ServiceBackends {
  readonly #store: ApiServer["store"];

  constructor(store: ApiServer["store"]) {
    this.#store = store;
  }

  /** A ready pod for a port of a Service, by its number or name; empty means the only port. */
  find(namespace: string, name: string, port: string): Backend {
    const entry = this.#store.collection("/services").get(`${namespace}/${name}`);
    if (!entry) throw new NoBackendError(`service ${JSON.stringify(name)} not found`, true);
    const { ports = [], selector = {} } = (JSON.parse(entry.text) as Service).spec ?? {};
    const wanted = chosenPort(ports, port);
    if (!wanted) throw new NoBackendError(`no service port ${JSON.stringify(port)} found for service "${name}"`);
    const hasSelector = Object.keys(selector).length > 0;
    for (const { labels = {}, text } of hasSelector ? this.#store.collection("/pods").scan(`${namespace}/`) : []) {
      if (!selectsLabels({ matchLabels: selector }, labels)) continue;
      const pod = JSON.parse(text) as Pod;
      if (!isReady(pod)) continue;
      const target = targetPort(pod, wanted);
      if (target !== undefined) return { pod, port: target };
    }
    throw new NoBackendError(`no endpoints available for service "${name}"`);
  }
}

function chosenPort(ports: readonly ServicePort[], port: string): ServicePort | undefined {
  if (port === "") return ports.length === 1 ? ports[0] : ports.find(({ name }) => name === undefined);
  return ports.find((one) => one.name === port || String(one.port) === port);
}

/** The number of a port of a pod; a name is looked up among its containers'. */
export function targetPort(pod: Pod, { targetPort: target, port }: Pick<ServicePort, "targetPort" | "port">) {
  if (target === undefined || target === 0) return port;
  return typeof target === "number" || /^\d+$/.test(target) ? Number(target) : namedPort(pod, target);
}

/** The number of a port that a pod's containers name. */
export function namedPort(pod: Pod, name: string): number | undefined {
  for (const { ports = [] } of pod.spec?.containers ?? []) {
    const found = ports.find((one) => one.name === name);
    if (found) return found.containerPort;
  }
  return undefined;
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}
