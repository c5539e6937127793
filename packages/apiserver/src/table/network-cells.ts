import { formatLabelSelector } from "@konverge/core";
import type {
  EndpointSlice,
  Endpoints,
  Ingress,
  IngressClass,
  IPAddress,
  NetworkPolicy,
  Service,
  ServiceCIDR,
} from "@konverge/kinds";
import { ageOf, type CellsOf, firstOf, labelsText, loadBalancerText, NONE } from "./cells.ts";

export const serviceCells: CellsOf<Service> = (service, now) => {
  const { spec } = service;
  const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return [
    service.metadata.name,
    spec?.type ?? "",
    spec?.clusterIPs?.[0] ?? NONE,
    externalAddress(service),
    ports.join(",") || NONE,
    ageOf(service, now),
    labelsText(spec?.selector),
  ];
};

function externalAddress({ spec, status }: Service): string {
  const external = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || NONE;
    case "LoadBalancer": {
      const balanced = loadBalancerText(status?.loadBalancer?.ingress);
      return [...(balanced === "" ? [] : [balanced]), ...external].join(",") || "<pending>";
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

export const endpointsCells: CellsOf<Endpoints> = (endpoints, now) => {
  const subsets = endpoints.subsets ?? [];
  const addresses = subsets.flatMap(({ ports, addresses: list = [] }) =>
    ports?.length ? ports.flatMap(({ port }) => list.map(({ ip }) => hostPort(ip, port))) : list.map(({ ip }) => ip),
  );
  return [
    endpoints.metadata.name,
    subsets.length === 0 ? NONE : firstOf(addresses, 3, addresses.length, ""),
    ageOf(endpoints, now),
  ];
};

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

export const endpointSliceCells: CellsOf<EndpointSlice> = (slice, now) => [
  slice.metadata.name,
  slice.addressType,
  firstOf(
    (slice.ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? "*") : String(port))),
    3,
    undefined,
    UNSET_LIST,
  ),
  firstOf(
    (slice.endpoints ?? []).flatMap(({ addresses }) => addresses),
    3,
    undefined,
    UNSET_LIST,
  ),
  ageOf(slice, now),
];

const UNSET_LIST = "<unset>";

export const ingressCells: CellsOf<Ingress> = (ingress, now) => [
  ingress.metadata.name,
  ingress.spec?.ingressClassName ?? NONE,
  hostsText(ingress),
  loadBalancerText(ingress.status?.loadBalancer?.ingress),
  ingress.spec?.tls?.length ? "80, 443" : "80",
  ageOf(ingress, now),
];

/** Rules without a host are not shown, but count among the "more". */
function hostsText({ spec }: Ingress): string {
  const hosts: string[] = [];
  let more = false;
  for (const { host } of spec?.rules ?? []) {
    if (hosts.length === 3) more = true;
    else if (host) hosts.push(host);
  }
  if (hosts.length === 0) return "*";
  return more ? `${hosts.join(",")} + ${spec!.rules!.length - 3} more...` : hosts.join(",");
}

export const ingressClassCells: CellsOf<IngressClass> = (ingressClass, now) => {
  const { metadata, spec } = ingressClass;
  const isDefault = metadata.annotations?.["ingressclass.kubernetes.io/is-default-class"] === "true";
  const parameters = spec?.parameters;
  const kind =
    parameters && (parameters.apiGroup === undefined ? parameters.kind : `${parameters.kind}.${parameters.apiGroup}`);
  return [
    isDefault ? `${metadata.name} (default)` : metadata.name,
    spec?.controller ?? "",
    parameters ? `${kind}/${parameters.name}` : NONE,
    ageOf(ingressClass, now),
  ];
};

export const networkPolicyCells: CellsOf<NetworkPolicy> = (policy, now) => [
  policy.metadata.name,
  formatLabelSelector(policy.spec?.podSelector ?? {}),
  ageOf(policy, now),
];

export const serviceCidrCells: CellsOf<ServiceCIDR> = (cidr, now) => [
  cidr.metadata.name,
  (cidr.spec?.cidrs ?? []).join(","),
  ageOf(cidr, now),
];

export const ipAddressCells: CellsOf<IPAddress> = (address) => {
  const parent = address.spec?.parentRef;
  const resource = parent && (parent.group ? `${parent.resource}.${parent.group}` : parent.resource).toLowerCase();
  return [address.metadata.name, parent ? [resource, parent.namespace, parent.name].filter(Boolean).join("/") : NONE];
};
