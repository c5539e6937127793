import { ageSince, canonicalQuantity, own } from "@konverge/core";
import type {
  ConfigMap,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  ResourceQuota,
  Secret,
} from "@konverge/kinds";
import { ageOf, type CellsOf, NONE, UNSET } from "./cells.ts";

export const configMapCells: CellsOf<ConfigMap> = (map, now) => [
  map.metadata.name,
  Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length,
  ageOf(map, now),
];

export const secretCells: CellsOf<Secret> = (secret, now) => [
  secret.metadata.name,
  secret.type ?? "",
  Object.keys(secret.data ?? {}).length,
  ageOf(secret, now),
];

export const namespaceCells: CellsOf<Namespace> = (namespace, now) => [
  namespace.metadata.name,
  namespace.status?.phase ?? "",
  ageOf(namespace, now),
];

const ROLE_PREFIX = "node-role.kubernetes.io/";

export const nodeCells: CellsOf<Node> = (node, now) => {
  const info = node.status?.nodeInfo;
  const kernel = info?.kernelVersion || "<unknown>";
  return [
    node.metadata.name,
    nodeStatus(node),
    nodeRoles(node).join(",") || NONE,
    ageOf(node, now),
    info?.kubeletVersion ?? "",
    addressOf(node, "InternalIP"),
    addressOf(node, "ExternalIP"),
    info?.osImage || "<unknown>",
    info?.architecture ? `${kernel} (${info.architecture})` : kernel,
    info?.containerRuntimeVersion || "<unknown>",
  ];
};

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === "Ready");
  const state = ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown";
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

function nodeRoles({ metadata }: Node): string[] {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key !== ROLE_PREFIX) roles.add(key.slice(ROLE_PREFIX.length));
    if (key === "kubernetes.io/role" && value !== "") roles.add(value);
  }
  return [...roles].sort();
}

function addressOf({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
}

/** Access modes in the short form, in a fixed order. */
const ACCESS_MODES: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: readonly string[] | undefined): string {
  return Object.keys(ACCESS_MODES)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => own(ACCESS_MODES, mode))
    .join(",");
}

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

export const persistentVolumeCells: CellsOf<PersistentVolume> = (volume, now) => {
  const { metadata, spec, status } = volume;
  return [
    metadata.name,
    storageText(spec?.capacity),
    accessModes(spec?.accessModes),
    spec?.persistentVolumeReclaimPolicy ?? "",
    metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? ""),
    spec?.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : "",
    metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "",
    spec?.volumeAttributesClassName ?? UNSET,
    status?.reason ?? "",
    ageOf(volume, now),
    spec?.volumeMode ?? UNSET,
  ];
};

export const persistentVolumeClaimCells: CellsOf<PersistentVolumeClaim> = (claim, now) => {
  const { metadata, spec, status } = claim;
  const bound = (spec?.volumeName ?? "") !== "";
  return [
    metadata.name,
    metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? ""),
    spec?.volumeName ?? "",
    bound ? storageText(status?.capacity) : "",
    bound ? accessModes(status?.accessModes) : "",
    metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "",
    spec?.volumeAttributesClassName ?? UNSET,
    ageOf(claim, now),
    spec?.volumeMode ?? UNSET,
  ];
};

function storageText(capacity: Readonly<Record<string, string | number>> | undefined): string {
  return canonicalQuantity(String(capacity?.storage ?? "0"));
}

export const resourceQuotaCells: CellsOf<ResourceQuota> = (quota, now) => {
  const { hard = {}, used = {} } = quota.status ?? {};
  const text = (names: string[]) =>
    names
      .map(
        (name) => `${name}: ${canonicalQuantity(String(used[name] ?? "0"))}/${canonicalQuantity(String(hard[name]))}`,
      )
      .join(", ");
  const names = Object.keys(hard).sort();
  const isLimit = (name: string) => name.startsWith("limits.");
  return [
    quota.metadata.name,
    text(names.filter((name) => !isLimit(name))),
    text(names.filter(isLimit)),
    ageOf(quota, now),
  ];
};

export const eventCells: CellsOf<Event> = (event, now) => {
  const first = ageSince(event.firstTimestamp ?? event.eventTime, now);
  const last = event.lastTimestamp ? ageSince(event.lastTimestamp, now) : first;
  const { kind = "", name = "", fieldPath = "" } = event.involvedObject ?? {};
  return [
    event.series ? ageSince(event.series.lastObservedTime, now) : last,
    event.type ?? "",
    event.reason ?? "",
    name === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`,
    fieldPath,
    sourceText(event),
    (event.message ?? "").trim(),
    first,
    event.series ? (event.series.count ?? 0) : event.count || 1,
    event.metadata.name,
  ];
};

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || "";
  const instance = source?.host || reportingInstance || "";
  return instance === "" ? component : `${component}, ${instance}`;
}
