import { append, configMapKeyErrors, dns1123LabelErrors, type FieldError } from "@konverge/core";
import { duplicate, forbidden, invalidValue, required } from "@konverge/schema";
import type { Volume } from "../objects.ts";
import { named, optionallyOneOf, within } from "./checks.ts";
import { descendingErrors } from "./containers.ts";

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

const ORDER = ["emptyDir", "hostPath", "gitRepo", "secret", "nfs", "configMap", "downwardAPI", "projected", "csi"];

/** What is wrong with a pod's volumes, and the names of those that mounts may refer to. */
export function volumesErrors(volumes: readonly Volume[], field: string): { errors: FieldError[]; names: Set<string> } {
  const names = new Set<string>();
  const errors = volumes.flatMap((volume, index) => {
    const at = `${field}[${index}]`;
    const { name = "" } = volume;
    const found = sourceErrors(volume, at);
    if (name === "") found.push(required(`${at}.name`));
    else append(found, named(`${at}.name`, name, dns1123LabelErrors(name)));
    if (names.has(name)) found.push(duplicate(`${at}.name`, name));
    if (found.length === 0) names.add(name);
    return found;
  });
  return { errors, names };
}

function sourceErrors(volume: Volume, field: string): FieldError[] {
  const given = Object.keys(volume).filter((key) => key !== "name" && volume[key as keyof Volume] !== undefined);
  if (given.length === 0) return [required(field, "must specify a volume type")];
  // Said of every source but the first in the order of the API's own list.
  given.sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return given.flatMap((source, index) =>
    index === 0
      ? oneSourceErrors(volume, source, `${field}.${source}`)
      : [forbidden(`${field}.${source}`, "may not specify more than 1 volume type")],
  );
}

function oneSourceErrors(volume: Volume, source: string, field: string): FieldError[] {
  const { hostPath, secret, configMap, persistentVolumeClaim, downwardAPI, projected, nfs, csi } = volume;
  switch (source) {
    case "hostPath": {
      const path = hostPath?.path ?? "";
      if (path === "") return [required(`${field}.path`)];
      const errors = path.split("/").includes("..")
        ? [invalidValue(`${field}.path`, path, "must not contain '..'")]
        : [];
      return [...errors, ...optionallyOneOf(`${field}.type`, hostPath?.type, HOST_PATH_TYPES)];
    }
    case "secret":
      return [
        ...(secret?.secretName ? [] : [required(`${field}.secretName`)]),
        ...modeErrors(secret?.defaultMode, `${field}.defaultMode`),
        ...itemErrors(secret?.items, `${field}.items`),
      ];
    case "configMap":
      return [
        ...(configMap?.name ? [] : [required(`${field}.name`)]),
        ...modeErrors(configMap?.defaultMode, `${field}.defaultMode`),
        ...itemErrors(configMap?.items, `${field}.items`),
      ];
    case "persistentVolumeClaim":
      return persistentVolumeClaim?.claimName ? [] : [required(`${field}.claimName`)];
    case "downwardAPI":
      return modeErrors(downwardAPI?.defaultMode, `${field}.defaultMode`);
    case "projected":
      return projectedErrors(projected, field);
    case "nfs":
      return [
        ...(nfs?.server ? [] : [required(`${field}.server`)]),
        ...(nfs?.path ? [] : [required(`${field}.path`)]),
        ...(nfs?.path && !nfs.path.startsWith("/")
          ? [invalidValue(`${field}.path`, nfs.path, "must be an absolute path")]
          : []),
      ];
    case "csi":
      return csi?.driver ? [] : [required(`${field}.driver`)];
    default:
      return [];
  }
}

type KeyItems = readonly { key?: string; path?: string; mode?: number }[];

function itemErrors(items: KeyItems | undefined, field: string): FieldError[] {
  return (items ?? []).flatMap(({ key = "", path = "", mode }, index) => {
    const at = `${field}[${index}]`;
    return [
      ...(key === "" ? [required(`${at}.key`)] : named(`${at}.key`, key, configMapKeyErrors(key))),
      ...(path === "" ? [required(`${at}.path`)] : descendingErrors(path, `${at}.path`)),
      ...modeErrors(mode, `${at}.mode`),
    ];
  });
}

function modeErrors(mode: number | undefined, field: string): FieldError[] {
  if (within(field, mode, 0, 0o777).length === 0) return [];
  return [invalidValue(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}

function projectedErrors(projected: Volume["projected"], field: string): FieldError[] {
  return (projected?.sources ?? []).flatMap((source, index) => {
    const at = `${field}.sources[${index}]`;
    const { secret, configMap, serviceAccountToken } = source;
    const errors: FieldError[] = [];
    if (Object.keys(source).length === 0) errors.push(required(at, "must specify at least one source"));
    if (secret) {
      if (!secret.name) errors.push(required(`${at}.name`));
      append(errors, itemErrors(secret.items, `${at}.secret.items`));
    }
    if (configMap) {
      if (!configMap.name) errors.push(required(`${at}.name`));
      append(errors, itemErrors(configMap.items, `${at}.configMap.items`));
    }
    if (serviceAccountToken) {
      const { expirationSeconds: seconds = 3600, path = "" } = serviceAccountToken;
      const tokenField = `${at}.serviceAccountToken`;
      if (seconds < 600) {
        errors.push(
          invalidValue(`${tokenField}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes"),
        );
      }
      if (path === "") errors.push(required(`${tokenField}.path`));
    }
    return errors;
  });
}
