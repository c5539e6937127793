import { append, dns1123LabelErrors, type FieldError } from "@konverge/core";
import { duplicate, forbidden, invalidValue, required } from "@konverge/schema";
import type { Volume } from "../../../codec/objects.ts";
import { named, optionallyOneOf, within } from "./checks.ts";
import { fieldRefErrors, resourceFieldRefErrors } from "./field-references.ts";
import { backstepErrors, descendingErrors, nonReservedErrors } from "./paths.ts";

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** Kinds of volumes in the order in which the real server looks at them. */
const ORDER = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];
/** As the real server spells them when a volume has several. */
const SPELLED: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

/** Fields of a pod that a volume can show. */
const FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/** What is wrong with a pod's volumes, and those that mounts may refer to, by name. */
export function volumesErrors(
  list: readonly Volume[],
  field: string,
): { errors: FieldError[]; volumes: ReadonlyMap<string, Volume> } {
  const volumes = new Map<string, Volume>();
  const errors = list.flatMap((volume, index) => {
    const at = `${field}[${index}]`;
    const { name = "" } = volume;
    const found = sourceErrors(volume, at);
    if (name === "") found.push(required(`${at}.name`));
    else append(found, named(`${at}.name`, name, dns1123LabelErrors(name)));
    if (volumes.has(name)) found.push(duplicate(`${at}.name`, name));
    if (found.length === 0) volumes.set(name, volume);
    return found;
  });
  return { errors, volumes };
}

function sourceErrors(volume: Volume, field: string): FieldError[] {
  const given = Object.keys(volume).filter((key) => key !== "name" && volume[key as keyof Volume] !== undefined);
  if (given.length === 0) return [required(field, "must specify a volume type")];
  given.sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return given.flatMap((source, index) =>
    index === 0
      ? oneSourceErrors(volume, source, `${field}.${source}`)
      : [forbidden(`${field}.${SPELLED[source] ?? source}`, "may not specify more than 1 volume type")],
  );
}

function oneSourceErrors(volume: Volume, source: string, field: string): FieldError[] {
  const { hostPath, gitRepo, secret, configMap, persistentVolumeClaim, downwardAPI, projected, nfs, csi } = volume;
  switch (source) {
    case "hostPath":
      return hostPathErrors(hostPath, field);
    case "gitRepo":
      return [
        ...(gitRepo?.repository ? [] : [required(`${field}.repository`)]),
        ...descendingErrors(gitRepo?.directory ?? "", `${field}.directory`),
      ];
    case "secret":
      return [
        ...(secret?.secretName ? [] : [required(`${field}.secretName`)]),
        ...modeErrors(secret?.defaultMode, `${field}.defaultMode`),
        ...itemsErrors(secret?.items, `${field}.items`),
      ];
    case "configMap":
      return [
        ...(configMap?.name ? [] : [required(`${field}.name`)]),
        ...modeErrors(configMap?.defaultMode, `${field}.defaultMode`),
        ...itemsErrors(configMap?.items, `${field}.items`),
      ];
    case "persistentVolumeClaim":
      return persistentVolumeClaim?.claimName ? [] : [required(`${field}.claimName`)];
    case "downwardAPI":
      return [
        ...modeErrors(downwardAPI?.defaultMode, `${field}.defaultMode`),
        ...(downwardAPI?.items ?? []).flatMap((file) => downwardFileErrors(file, field)),
      ];
    case "projected":
      return [...modeErrors(projected?.defaultMode, `${field}.defaultMode`), ...projectedErrors(projected, field)];
    case "nfs": {
      const path = nfs?.path ?? "";
      return [
        ...(nfs?.server ? [] : [required(`${field}.server`)]),
        ...(path === "" ? [required(`${field}.path`)] : []),
        ...(path.startsWith("/") ? [] : [invalidValue(`${field}.path`, path, "must be an absolute path")]),
      ];
    }
    case "csi":
      return csi?.driver ? [] : [required(`${field}.driver`)];
    default:
      return [];
  }
}

/** What is wrong with a folder of a node. */
export function hostPathErrors(hostPath: Volume["hostPath"], field: string): FieldError[] {
  const { path = "", type } = hostPath ?? {};
  if (path === "") return [required(`${field}.path`)];
  return [...backstepErrors(path, `${field}.path`), ...optionallyOneOf(`${field}.type`, type, HOST_PATH_TYPES)];
}

type Items<T> = NonNullable<T extends { items?: infer List } ? List : never>;
type KeyItems = Items<NonNullable<Volume["configMap"]>>;
type DownwardFile = Items<NonNullable<Volume["downwardAPI"]>>[number];

function itemsErrors(items: KeyItems = [], field: string): FieldError[] {
  return items.flatMap((item, index) => itemErrors(item, `${field}[${index}]`));
}

/** A key that the object does not have is for the node to find missing. */
function itemErrors({ key = "", path = "", mode }: KeyItems[number], field: string): FieldError[] {
  return [
    ...(key === "" ? [required(`${field}.key`)] : []),
    ...(path === "" ? [required(`${field}.path`)] : nonReservedErrors(path, `${field}.path`)),
    ...modeErrors(mode, `${field}.mode`),
  ];
}

/** The real server names the list, not the item. */
function downwardFileErrors(file: DownwardFile, field: string): FieldError[] {
  const { path = "", fieldRef, resourceFieldRef, mode } = file;
  const errors = path === "" ? [required(`${field}.path`)] : nonReservedErrors(path, `${field}.path`);
  if (fieldRef) append(errors, fieldRefErrors(fieldRef, `${field}.fieldRef`, FIELDS));
  if (fieldRef && resourceFieldRef) {
    const detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
    errors.push(invalidValue(field, "resource", detail));
  } else if (resourceFieldRef) {
    append(errors, resourceFieldRefErrors(resourceFieldRef, `${field}.resourceFieldRef`, true));
  } else if (!fieldRef) errors.push(required(field, "one of fieldRef and resourceFieldRef is required"));
  return [...errors, ...modeErrors(mode, `${field}.mode`)];
}

function modeErrors(mode: number | undefined, field: string): FieldError[] {
  if (within(field, mode, 0, 0o777).length === 0) return [];
  return [invalidValue(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}

const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;

function projectedErrors(projected: Volume["projected"], field: string): FieldError[] {
  const paths = new Set<string>();
  const errors: FieldError[] = [];
  /** Paths of all sources are one folder; `shown` is what the real server names in its message. */
  const claim = (path: string, shown: string) => {
    if (path !== "" && paths.has(path)) errors.push(invalidValue(field, shown, "conflicting duplicate paths"));
    paths.add(path);
  };
  projected?.sources?.forEach((source, index) => {
    const at = `${field}.sources[${index}]`;
    const { downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle, podCertificate } = source;
    for (const kind of ["secret", "configMap"] as const) {
      const from = source[kind];
      if (!from) continue;
      if (!from.name) errors.push(required(`${at}.${kind}.name`));
      for (const [position, item] of (from.items ?? []).entries()) {
        append(errors, itemErrors(item, `${at}.${kind}.items[${position}]`));
        claim(item.path ?? "", from.name ?? "");
      }
    }
    for (const file of downwardAPI?.items ?? []) {
      append(errors, downwardFileErrors(file, `${at}.downwardAPI`));
      claim(file.path ?? "", file.path ?? "");
    }
    if (token) {
      const { expirationSeconds: seconds = 3600, path = "" } = token;
      const wrong = (detail: string) =>
        errors.push(invalidValue(`${at}.serviceAccountToken.expirationSeconds`, seconds, detail));
      if (seconds < SHORTEST_TOKEN) wrong("may not specify a duration less than 10 minutes");
      if (seconds > LONGEST_TOKEN) wrong("may not specify a duration larger than 2^32 seconds");
      // The field is named as the real server names it.
      append(errors, path === "" ? [required(`${field}.path`)] : nonReservedErrors(path, `${field}.path`));
    }
    if (bundle) {
      const { path = "" } = bundle;
      if (path === "") errors.push(required(`${at}.clusterTrustBundle.path`));
      append(errors, nonReservedErrors(path, `${at}.clusterTrustBundle.path`));
      claim(path, path);
    }
    for (const name of ["credentialBundlePath", "keyPath", "certificateChainPath"] as const) {
      const path = podCertificate?.[name] ?? "";
      append(errors, nonReservedErrors(path, `${at}.podCertificate.${name}`));
      claim(path, path);
    }
    if (Object.values(source).filter((one) => one !== undefined).length > 1) {
      errors.push(forbidden(at, "may not specify more than 1 volume type per source"));
    }
  });
  return errors;
}
