import type { Pod, Service } from "@konverge/kinds";
import type { DnsRecord } from "../userland/network.ts";
import type { Endpoint, ServiceDirectory } from "./service-directory.ts";

const ZONE = "cluster.local";

/** The cluster's name server: what Services and pods are called. */
export class ClusterNames {
  readonly #directory: ServiceDirectory;

  constructor(directory: ServiceDirectory) {
    this.#directory = directory;
  }

  /** The records of a name as it is. */
  lookup(asked: string, type: DnsRecord["type"] = "A"): readonly DnsRecord[] {
    const name = asked.toLowerCase().replace(/\.$/, "");
    if (name.endsWith(".in-addr.arpa")) return type === "PTR" ? this.#pointers(name) : [];
    if (!name.endsWith(`.${ZONE}`)) return [];
    const labels = name.slice(0, -(ZONE.length + 1)).split(".");
    const kind = labels.pop();
    const namespace = labels.pop() ?? "";
    if (kind === "pod") return type === "A" ? podRecord(name, labels[0] ?? "") : [];
    const service = kind === "svc" ? this.#directory.service(namespace, labels.pop() ?? "") : undefined;
    if (!service) return [];
    if (type === "SRV") return this.#locations(name, service, labels);
    return labels.length === 0 ? this.#addresses(name, service, type) : this.#hosts(name, service, labels, type);
  }

  #addresses(name: string, service: Service, type: DnsRecord["type"]): readonly DnsRecord[] {
    const { type: kind, externalName = "", clusterIP } = service.spec ?? {};
    if (kind === "ExternalName") {
      const alias: DnsRecord = { name, type: "CNAME", value: `${externalName}.` };
      return type === "CNAME" ? [alias] : type === "A" ? [alias, ...this.lookup(externalName, "A")] : [];
    }
    if (type !== "A") return [];
    const values =
      clusterIP && clusterIP !== "None" ? [clusterIP] : this.#directory.endpoints(service).map(({ ip }) => ip);
    return values.map((value) => ({ name, type, value }));
  }

  #hosts(name: string, service: Service, labels: readonly string[], type: DnsRecord["type"]): readonly DnsRecord[] {
    if (type !== "A" || labels.length > 1) return [];
    return this.#directory
      .endpoints(service)
      .filter((endpoint) => hostOf(endpoint) === labels[0])
      .map(({ ip }) => ({ name, type, value: ip }));
  }

  /** `_PORT._PROTOCOL.SERVICE…`: where a named port is. */
  #locations(name: string, service: Service, [port = "", protocol = ""]: readonly string[]): readonly DnsRecord[] {
    const { ports = [], clusterIP } = service.spec ?? {};
    const found = ports.find(
      (one) => `_${one.name}` === port && `_${(one.protocol ?? "TCP").toLowerCase()}` === protocol,
    );
    if (!found) return [];
    const base = name.split(".").slice(2).join(".");
    const hosts =
      clusterIP && clusterIP !== "None"
        ? [{ host: base, port: found.port }]
        : this.#directory.endpoints(service).map((endpoint) => ({
            host: `${hostOf(endpoint)}.${base}`,
            port: endpoint.ports.get(found.name ?? "")?.port ?? found.port,
          }));
    return hosts.map(({ host, port: number }) => ({ name, type: "SRV", value: `0 100 ${number} ${host}.` }));
  }

  #pointers(name: string): readonly DnsRecord[] {
    const ip = name.replace(".in-addr.arpa", "").split(".").reverse().join(".");
    const values: string[] = [];
    for (const service of this.#directory.services()) {
      const full = `${service.metadata.name}.${service.metadata.namespace}.svc.${ZONE}.`;
      if (service.spec?.clusterIPs?.includes(ip)) values.push(full);
      else if (service.spec?.clusterIP === "None") {
        for (const endpoint of this.#directory.endpoints(service))
          if (endpoint.ip === ip) values.push(`${hostOf(endpoint)}.${full}`);
      }
    }
    return values.map((value) => ({ name, type: "PTR", value }));
  }

  /** The addresses that a program in a pod gets for a name: its hosts file and search domains first. */
  resolve(pod: Pod, podIP: string, asked: string): readonly string[] {
    if (/^[\d.]+$/.test(asked) || asked.includes(":")) return [asked];
    const name = asked.toLowerCase().replace(/\.$/, "");
    const { hostAliases = [] } = pod.spec ?? {};
    if (name === "localhost") return ["127.0.0.1"];
    if (name === hostNameOf(pod) || name === fullNameOf(pod)) return [podIP];
    const alias = hostAliases.find(({ hostnames = [] }) => hostnames.includes(name));
    if (alias) return [alias.ip];
    const wanted = asked.endsWith(".") ? [name] : [...searchesOf(pod).map((domain) => `${name}.${domain}`), name];
    for (const one of wanted) {
      const found = this.lookup(one, "A").filter(({ type }) => type === "A");
      if (found.length > 0) return found.map(({ value }) => value);
    }
    return [];
  }
}

function podRecord(name: string, dashed: string): readonly DnsRecord[] {
  const value = dashed.replaceAll("-", ".");
  return /^\d+(\.\d+){3}$/.test(value) ? [{ name, type: "A", value }] : [];
}

/** What an endpoint is called: its hostname, or its address with dashes. */
function hostOf({ hostname, ip }: Endpoint): string {
  return hostname ?? ip.replaceAll(".", "-");
}

/** A host name in Linux has at most 63 characters; the kubelet cuts off the rest of a pod's name. */
const LONGEST_HOST_NAME = 63;

/** The host name that a pod's programs see. In the node's own network it is the node's. */
export function hostNameOf(pod: Pod): string {
  const { hostNetwork, nodeName, setHostnameAsFQDN } = pod.spec ?? {};
  if (hostNetwork) return nodeName ?? pod.metadata.name;
  return setHostnameAsFQDN ? fullNameOf(pod) : ownName(pod);
}

function ownName({ metadata, spec }: Pod): string {
  return spec?.hostname ?? metadata.name.slice(0, LONGEST_HOST_NAME).replace(/[-.]+$/, "");
}

/** A pod's own name with its subdomain, if it has one. */
export function fullNameOf(pod: Pod): string {
  const { metadata, spec } = pod;
  if (spec?.hostNetwork) return hostNameOf(pod);
  const host = ownName(pod);
  if (!spec?.subdomain) return host;
  return `${host}.${spec.subdomain}.${metadata.namespace}.svc.${ZONE}`;
}

/** The search domains of a pod. */
export function searchesOf({ metadata, spec }: Pod): readonly string[] {
  const own = [`${metadata.namespace}.svc.${ZONE}`, `svc.${ZONE}`, ZONE];
  const isOwn = spec?.dnsPolicy !== "None" && spec?.dnsPolicy !== "Default";
  return [...(isOwn ? own : []), ...(spec?.dnsConfig?.searches ?? [])];
}

/** A pod's `/etc/resolv.conf`. */
export function resolverText(pod: Pod): string {
  const { dnsPolicy, dnsConfig } = pod.spec ?? {};
  const isOwn = dnsPolicy !== "None" && dnsPolicy !== "Default";
  const servers = [...(isOwn ? [NAME_SERVER] : []), ...(dnsConfig?.nameservers ?? [])];
  const given = dnsConfig?.options?.map(({ name, value }) => (value === undefined ? name : `${name}:${value}`)) ?? [];
  const options = [...(isOwn ? ["ndots:5"] : []), ...given];
  const searches = searchesOf(pod);
  return [
    ...(searches.length > 0 ? [`search ${searches.join(" ")}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(" ")}`] : []),
    "",
  ].join("\n");
}

/** Where the cluster's name server would be. */
const NAME_SERVER = "10.96.0.10";
