import { parseJson } from "@konverge/core";
import type { EndpointSlice, Service } from "@konverge/kinds";
import type { Store } from "../storage/store.ts";
import type { RemoteService } from "./api-services.ts";
import type { ExtensionTarget } from "./extension-call.ts";

const SERVICES = "/services";
const SLICES = "discovery.k8s.io/endpointslices";

/** The collections that decide where a service is. */
export const ADDRESS_STORAGES = [SERVICES, SLICES];

/** Why a service cannot be used, in the words of an APIService's condition. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

/** Why a service cannot be reached, as far as its objects show; undefined when nothing is wrong. */
export function obstacleTo(store: Store, { service: reference }: RemoteService): Obstacle | undefined {
  const { namespace, name, port } = reference;
  const where = `service/${name} in "${namespace}"`;
  const service = serviceOf(store, namespace, name);
  if (!service) return { reason: "ServiceNotFound", message: `${where} is not present` };
  if (service.spec?.type !== "ClusterIP") return undefined;
  const listening = service.spec.ports?.find((candidate) => candidate.port === port);
  if (!listening) return { reason: "ServicePortError", message: `${where} is not listening on port ${port}` };
  const slices = slicesOf(store, namespace, name);
  if (slices.length === 0) {
    return { reason: "EndpointsNotFound", message: `cannot find endpointslices for ${where}` };
  }
  const portName = listening.name ?? "";
  if (slices.some((slice) => addressIn(slice, portName))) return undefined;
  const message = `endpointslices for ${where} have no addresses with port name "${portName}"`;
  return { reason: "MissingEndpoints", message };
}

/**
 * Where requests to a service go: to the name that it stands for, or to one of its ready endpoints. There is no network of
 * cluster addresses here, so they go to endpoints directly, as a real server does with `--enable-aggregator-routing`.
 */
export function targetOf(store: Store, remote: RemoteService): ExtensionTarget {
  const { namespace, name, port } = remote.service;
  const address = addressOf(store, namespace, name, port);
  const { caBundle, insecureSkipTLSVerify } = remote;
  return { ...address, serverName: `${name}.${namespace}.svc`, ...(caBundle && { caBundle }), insecureSkipTLSVerify };
}

function addressOf(store: Store, namespace: string, name: string, port: number): { host: string; port: number } {
  const service = serviceOf(store, namespace, name);
  if (!service) throw new Error(`service "${name}" not found`);
  const { type, externalName, ports } = service.spec ?? {};
  if (type === "ExternalName") return { host: externalName ?? "", port };
  const listening = ports?.find((candidate) => candidate.port === port);
  if (!listening) throw new Error(`no service port ${port} found for service "${name}"`);
  for (const slice of slicesOf(store, namespace, name)) {
    const found = addressIn(slice, listening.name ?? "");
    if (found) return found;
  }
  throw new Error(`no endpoints available for service "${name}"`);
}

function addressIn({ endpoints, ports }: EndpointSlice, name: string): { host: string; port: number } | undefined {
  const port = ports?.find((candidate) => (candidate.name ?? "") === name)?.port;
  const ready = endpoints?.find(({ conditions }) => conditions?.ready ?? true);
  const host = ready?.addresses[0];
  return port !== undefined && host !== undefined ? { host, port } : undefined;
}

function serviceOf(store: Store, namespace: string, name: string): Service | undefined {
  const entry = store.collection(SERVICES).get(`${namespace}/${name}`);
  return entry && (parseJson(entry.text) as Service);
}

function slicesOf(store: Store, namespace: string, name: string): EndpointSlice[] {
  const slices: EndpointSlice[] = [];
  for (const entry of store.collection(SLICES).scan(`${namespace}/`)) {
    if (entry.labels?.["kubernetes.io/service-name"] === name) slices.push(parseJson(entry.text) as EndpointSlice);
  }
  return slices;
}
