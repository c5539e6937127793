import { isObject, type KubeObject, type ObjectMeta } from "@konverge/core";

/**
 * A draft as it is sent: with its bond and its namespace, without nulls (an apply would claim them as values), and with a
 * Secret's stringData where the server would put it anyway.
 */
export function draftOf(
  draft: KubeObject,
  place: { namespace: string | undefined; bond: Partial<ObjectMeta> },
): KubeObject {
  const { bond, namespace } = place;
  const { metadata, ...rest } = withoutNulls(draft) as KubeObject;
  return {
    ...encodedSecret(rest),
    metadata: {
      ...metadata,
      ...(namespace !== undefined && { namespace }),
      ...(bond.ownerReferences && { ownerReferences: [...(metadata.ownerReferences ?? []), ...bond.ownerReferences] }),
      ...(bond.labels && { labels: { ...metadata.labels, ...bond.labels } }),
      ...(bond.annotations && { annotations: { ...metadata.annotations, ...bond.annotations } }),
    },
  };
}

/** What of an applied object becomes an owned field: all but what says which object it is, and owner references. */
export function ownedFieldsOf(draft: KubeObject): object {
  const { apiVersion: _a, kind: _k, metadata, ...rest } = draft;
  const { name: _n, namespace: _ns, ownerReferences: _o, ...owned } = metadata;
  return { ...rest, ...(Object.keys(owned).length > 0 && { metadata: owned }) };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name in value)
    if (value[name] !== null && value[name] !== undefined) result[name] = withoutNulls(value[name]);
  return result;
}

function encodedSecret<T extends { apiVersion: string; kind: string }>(object: T): T {
  const { stringData, data, ...rest } = object as T & { stringData?: Record<string, string>; data?: object };
  if (object.kind !== "Secret" || object.apiVersion !== "v1" || !stringData) return object;
  const encoded = Object.entries(stringData).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } } as unknown as T;
}
