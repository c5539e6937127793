import {
  append,
  configMapKeyErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  environmentNameErrors,
  type FieldError,
} from "@konverge/core";
import type { EnvFromSource } from "@konverge/kinds";
import { invalidValue, required } from "@konverge/schema";
import type { EnvVar, Loose } from "../../../codec/objects.ts";
import { named } from "./checks.ts";
import { fieldRefErrors, resourceFieldRefErrors } from "./field-references.ts";
import { backstepErrors } from "./paths.ts";

const FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** What is wrong with a container's environment. */
export function envErrors(variables: readonly EnvVar[], field: string): FieldError[] {
  return variables.flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const { name = "" } = variable;
    return [
      ...(name === "" ? [required(`${at}.name`)] : named(`${at}.name`, name, environmentNameErrors(name))),
      ...valueFromErrors(variable, `${at}.valueFrom`),
    ];
  });
}

function valueFromErrors({ value = "", valueFrom }: EnvVar, field: string): FieldError[] {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const errors: FieldError[] = [];
  if (fieldRef) append(errors, fieldRefErrors(fieldRef, `${field}.fieldRef`, FIELDS));
  if (resourceFieldRef) append(errors, resourceFieldRefErrors(resourceFieldRef, `${field}.resourceFieldRef`, false));
  for (const [name, ref] of [
    ["configMapKeyRef", configMapKeyRef],
    ["secretKeyRef", secretKeyRef],
  ] as const) {
    if (!ref) continue;
    append(errors, refNameErrors(ref.name, `${field}.${name}.name`));
    if (!ref.key) errors.push(required(`${field}.${name}.key`));
    else append(errors, named(`${field}.${name}.key`, ref.key, configMapKeyErrors(ref.key)));
  }
  if (fileKeyRef) append(errors, fileKeyErrors(fileKeyRef, `${field}.fileKeyRef`));
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  const wrong = (detail: string) => errors.push(invalidValue(field, "", detail));
  if (sources === 0) {
    wrong("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (value !== "") wrong("may not be specified when `value` is not empty");
  else if (sources > 1) wrong("may not have more than one field specified at a time");
  return errors;
}

/** A variable in a file of a volume. */
function fileKeyErrors(ref: { key?: string; volumeName?: string; path?: string }, field: string): FieldError[] {
  const { key = "", volumeName: volume = "", path = "" } = ref;
  const volumeField = `${field}.volumeName`;
  return [
    ...(key === "" ? [required(`${field}.key`)] : named(`${field}.key`, key, environmentNameErrors(key))),
    ...(volume === "" ? [required(volumeField)] : named(volumeField, volume, dns1123LabelErrors(volume))),
    ...(path === "" ? [required(`${field}.path`)] : backstepErrors(path, `${field}.path`)),
  ];
}

/** What is wrong with the objects that an environment is filled from. */
export function envFromErrors(sources: readonly Loose<EnvFromSource>[], field: string): FieldError[] {
  return sources.flatMap(({ prefix = "", configMapRef, secretRef }, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = prefix === "" ? [] : named(`${at}.prefix`, prefix, environmentNameErrors(prefix));
    if (configMapRef && !configMapRef.name) errors.push(required(`${at}.configMapRef.name`));
    if (secretRef && !secretRef.name) errors.push(required(`${at}.secretRef.name`));
    if (!configMapRef && !secretRef) {
      errors.push(invalidValue(field, "", "must specify one of: `configMapRef` or `secretRef`"));
    }
    if (configMapRef && secretRef) {
      errors.push(invalidValue(field, "", "may not have more than one field specified at a time"));
    }
    return errors;
  });
}

function refNameErrors(name: string | undefined, field: string): FieldError[] {
  return named(field, name ?? "", dns1123SubdomainErrors(name ?? ""));
}
