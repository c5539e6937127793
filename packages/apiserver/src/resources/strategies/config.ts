import { append, configMapKeyErrors, deepEqual, type FieldError } from "@konverge/core";
import { forbidden, invalidValue, required, tooLong } from "@konverge/schema";
import type { ConfigMap, Secret, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { immutable } from "./pod-spec/checks.ts";

const LARGEST = 1024 * 1024;
const SEALED = "field is immutable when `immutable` is set";

export const configMap: Strategy = {
  validate({ data = {}, binaryData = {} }: Stored<ConfigMap>) {
    const errors: FieldError[] = [];
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      append(errors, keyErrors(`data[${key}]`, key));
      if (Object.hasOwn(binaryData, key)) {
        errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
      }
      size += Buffer.byteLength(value);
    }
    for (const [key, value] of Object.entries(binaryData)) {
      append(errors, keyErrors(`binaryData[${key}]`, key));
      size += decodedLength(value);
    }
    if (size > LARGEST) errors.push(tooLong("", LARGEST));
    return errors;
  },
  validateUpdate(object: Stored<ConfigMap>, old: Stored<ConfigMap>) {
    if (!old.immutable) return [];
    return [
      ...(object.immutable ? [] : [forbidden("immutable", SEALED)]),
      ...(deepEqual(object.data ?? {}, old.data ?? {}) ? [] : [forbidden("data", SEALED)]),
      ...(deepEqual(object.binaryData ?? {}, old.binaryData ?? {}) ? [] : [forbidden("binaryData", SEALED)]),
    ];
  },
};

export const secret: Strategy = {
  defaults(object: Stored<Secret>) {
    const { stringData } = object;
    if (!stringData) return;
    const written = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    object.data = { ...object.data, ...Object.fromEntries(written) };
    delete object.stringData;
  },
  validate(object: Stored<Secret>) {
    const { data = {} } = object;
    const errors = Object.keys(data).flatMap((key) => keyErrors(`data[${key}]`, key));
    const size = Object.values(data).reduce((sum, value) => sum + decodedLength(value), 0);
    if (size > LARGEST) errors.push(tooLong("data", LARGEST));
    return [...errors, ...typeErrors(object)];
  },
  validateUpdate(object: Stored<Secret>, old: Stored<Secret>) {
    const errors = immutable("type", object.type, old.type);
    if (!old.immutable) return errors;
    if (!object.immutable) errors.push(forbidden("immutable", SEALED));
    if (!deepEqual(object.data ?? {}, old.data ?? {})) errors.push(forbidden("data", SEALED));
    return errors;
  },
  fields: ({ type }: Stored<Secret>) => ({ type: type ?? "" }),
};

function keyErrors(field: string, key: string): FieldError[] {
  return configMapKeyErrors(key).map((detail) => invalidValue(field, key, detail));
}

function decodedLength(base64: string): number {
  return Buffer.from(base64, "base64").length;
}

/** What the type of a secret asks of its content. */
function typeErrors({ type, data = {}, metadata }: Secret): FieldError[] {
  const needs = (...keys: string[]) =>
    keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));
  switch (type) {
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      return metadata.annotations?.[key] ? [] : [required(`metadata.annotations[${key}]`)];
    }
    case "kubernetes.io/dockercfg":
      return jsonErrors(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonErrors(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      if (data["username"] !== undefined || data["password"] !== undefined) return [];
      return [required("data[username]"), required("data[password]")];
    case "kubernetes.io/ssh-auth":
      return data["ssh-privatekey"] ? [] : [required("data[ssh-privatekey]")];
    case "kubernetes.io/tls":
      return needs("tls.crt", "tls.key");
    default:
      return [];
  }
}

function jsonErrors(data: Record<string, string>, key: string): FieldError[] {
  const content = data[key];
  if (content === undefined) return [required(`data[${key}]`)];
  try {
    JSON.parse(Buffer.from(content, "base64").toString());
    return [];
  } catch {
    return [invalidValue(`data[${key}]`, "<secret contents redacted>", "invalid character in JSON")];
  }
}
