import type { ObjectMeta } from "konverge";

/** The annotations that keep what one version of a graph cannot tell apart and another one can. */
const PREFIX = "nvidia.com/original-";

type Part = "services" | "components";

/** A part of a graph as it was written in another version; undefined if nothing is kept or a user changed what is. */
export function restored<T>({ annotations }: ObjectMeta, part: Part): T | undefined {
  const text = annotations?.[PREFIX + part];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isOfPart = part === "components" ? Array.isArray(value) : typeof value === "object" && value !== null;
    return isOfPart ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Metadata with the original form of a part, if it differs from what would be read without it, and no other. */
export function written(
  { annotations = {} }: ObjectMeta,
  part: Part,
  original: object | undefined,
): { annotations: Record<string, string> } {
  const others = Object.entries(annotations).filter(([name]) => !name.startsWith(PREFIX));
  return {
    annotations: {
      ...Object.fromEntries(others),
      ...(original && { [PREFIX + part]: JSON.stringify(original) }),
    },
  };
}
