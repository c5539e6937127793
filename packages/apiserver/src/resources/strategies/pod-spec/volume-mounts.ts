import type { FieldError } from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { Container, Volume, VolumeMount } from "../../../codec/objects.ts";
import { notFoundValue } from "./checks.ts";
import { backstepErrors, descendingErrors } from "./paths.ts";

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];

/** What is wrong with where a container has its volumes. Some fields are named without their index, as the real server does. */
export function mountErrors(container: Container, field: string, volumes: ReadonlyMap<string, Volume>): FieldError[] {
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const { name = "", mountPath = "", subPath = "", subPathExpr = "" } = mount;
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (mountPath === "") errors.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, "must be unique"));
    paths.add(mountPath);
    if (devices.some((device) => device.name === name)) {
      errors.push(invalidValue(`${at}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devices.some(({ devicePath }) => devicePath === mountPath)) {
      errors.push(invalidValue(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
    }
    if (subPath !== "") errors.push(...descendingErrors(subPath, `${field}.subPath`));
    if (subPathExpr !== "") {
      const detail = "subPathExpr and subPath are mutually exclusive";
      if (subPath !== "") errors.push(invalidValue(`${at}.subPathExpr`, subPathExpr, detail));
      errors.push(...descendingErrors(subPathExpr, `${field}.subPathExpr`));
    }
    errors.push(...propagationErrors(mount, container, `${field}.mountPropagation`));
    return [...errors, ...recursionErrors(mount, `${field}.recursiveReadOnly`)];
  });
}

function propagationErrors({ mountPropagation }: VolumeMount, container: Container, field: string): FieldError[] {
  if (mountPropagation === undefined) return [];
  if (!PROPAGATIONS.includes(mountPropagation)) return [notSupported(field, mountPropagation, PROPAGATIONS)];
  if (mountPropagation !== "Bidirectional" || container.securityContext?.privileged) return [];
  return [forbidden(field, "Bidirectional mount propagation is available only to privileged containers")];
}

function recursionErrors(mount: VolumeMount, field: string): FieldError[] {
  const { recursiveReadOnly: mode, readOnly, mountPropagation = "None" } = mount;
  if (mode === undefined || mode === "Disabled") return [];
  if (mode !== "Enabled" && mode !== "IfPossible") {
    return [notSupported(field, mode, ["Disabled", "Enabled", "IfPossible"])];
  }
  const errors: FieldError[] = [];
  if (!readOnly) errors.push(forbidden(field, "may only be specified when readOnly is true"));
  if (mountPropagation !== "None") {
    errors.push(forbidden(field, "may only be specified when mountPropagation is None or not specified"));
  }
  return errors;
}

/** What is wrong with the block devices of a container. */
export function deviceErrors(container: Container, field: string, volumes: ReadonlyMap<string, Volume>): FieldError[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = container.volumeMounts ?? [];
  return (container.volumeDevices ?? []).flatMap(({ name = "", devicePath = "" }, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const wrongName = (detail: string) => errors.push(invalidValue(`${at}.name`, name, detail));
    const wrongPath = (detail: string) => errors.push(invalidValue(`${at}.devicePath`, devicePath, detail));
    const volume = volumes.get(name);
    if (name === "") errors.push(required(`${at}.name`));
    if (names.has(name)) wrongName("must be unique");
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
      wrongName("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (!volume) errors.push(notFoundValue(`${at}.name`, name));
    if (devicePath === "") errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) wrongPath("must be unique");
    if (backstepErrors(devicePath, "").length > 0) wrongPath("can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.some((mount) => mount.name === name)) wrongName("must not already exist in volumeMounts");
    if (mounts.some(({ mountPath }) => mountPath === devicePath)) {
      wrongPath("must not already exist as a path in volumeMounts");
    }
    if (name !== "") names.add(name);
    return errors;
  });
}
