import type { AnyKind } from "@konverge/schema";

/** The part of a structural schema that decides what the simplest valid value is. */
interface Shape {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly "x-kubernetes-int-or-string"?: boolean;
}

/**
 * The simplest object of a kind: the fields that its schema requires, each with its default, its first enum value or its
 * smallest value. A schema that asks for more, such as a pattern or a CEL rule, may reject it.
 */
export function sampleObject(kind: AnyKind): object {
  const { spec } = kind.crd();
  const version = spec.versions.find(({ storage }) => storage) ?? spec.versions[0]!;
  const shape = version.schema?.openAPIV3Schema as Shape | undefined;
  const wanted = shape?.properties?.["spec"];
  const object = {
    apiVersion: `${spec.group}/${version.name}`,
    kind: spec.names.kind,
    metadata: { name: "sample" },
    ...(wanted && { spec: simplest(wanted) }),
  };
  return object;
}

function simplest(shape: Shape): unknown {
  if (shape.default !== undefined) return shape.default;
  if (shape.enum && shape.enum.length > 0) return shape.enum[0];
  if (shape["x-kubernetes-int-or-string"]) return 1;
  switch (shape.type) {
    case "object": {
      const required = shape.required ?? [];
      return Object.fromEntries(required.map((name) => [name, simplest(shape.properties?.[name] ?? {})]));
    }
    case "array":
      return Array.from({ length: shape.minItems ?? 0 }, () => simplest(shape.items ?? {}));
    case "integer":
    case "number":
      return shape.minimum !== undefined && shape.minimum > 0 ? shape.minimum : Math.min(1, shape.maximum ?? 1);
    case "boolean":
      return false;
    case "string":
      if (shape.format === "date-time") return "2026-01-01T00:00:00Z";
      return "sample".padEnd(shape.minLength ?? 0, "x");
    default:
      return {};
  }
}
