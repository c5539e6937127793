import type { Client } from "@konverge/client";

const WRITES = new Set(["apply", "create", "patch", "update", "replace"]);
/** `image`, `defaultImage`, `spec.image` … */
const IMAGE = /image$/i;

/** The images that an object names: its fields `image` and the like, and what a schema fills in for them. */
export function imagesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!IMAGE.test(key)) return imagesIn(inner);
    const named = typeof inner === "object" && inner !== null ? (inner as { default?: unknown }).default : inner;
    return typeof named === "string" && named !== "" ? [named] : imagesIn(inner);
  });
}

/** A client that reports the images in what it writes, before it does. */
export function namingImages(client: Client, named: (image: string) => void): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (!WRITES.has(String(name))) return value.bind(target);
      return (...args: unknown[]) => {
        for (const image of imagesIn(args)) named(image);
        return value.apply(target, args);
      };
    },
  });
}
