import type { GoField, Schema } from "@konverge/core";
import { customTypes } from "./custom-types.ts";
import type { FieldFact } from "./fact-types.ts";
import { type KubernetesFacts, kubernetesFacts } from "./facts.ts";
import { type FieldType, fileOf, parseType, type Scalar } from "./type-name.ts";

type Properties = { readonly [name: string]: Schema };

/** Defaults of one kind below some path, by the next field name. */
interface Overlay {
  value?: unknown;
  readonly below: Map<string, Overlay>;
}

/** The schemas of one Kubernetes version. */
class BuiltinSchemas {
  readonly #facts: KubernetesFacts;
  readonly #kinds = new Map<string, Schema>();
  readonly #shared = new Map<string, Properties>();

  constructor(facts: KubernetesFacts) {
    this.#facts = facts;
  }

  ofKind(group: string, version: string, kind: string): Schema {
    const key = `${group}/${version}/${kind}`;
    let schema = this.#kinds.get(key);
    if (!schema) {
      const name = this.#facts.definitionOf(group, version, kind);
      schema = this.node(name, overlayOf(this.#facts.pathDefaults(group, version, kind)));
      this.#kinds.set(key, schema);
    }
    return schema;
  }

  node(name: string, overlay: Overlay | undefined): Schema {
    const custom = customTypes[name];
    if (custom) return { ...custom.schema, go: { message: name.slice(name.lastIndexOf(".") + 1) } };
    const fact = this.#facts.definition(name);
    if (!fact) throw new Error(`there is no definition ${name} in Kubernetes ${this.#facts.version}`);
    const required = Object.keys(fact.fields ?? {}).filter((field) => fact.fields?.[field]?.[2].includes("r"));
    const node: Schema = {
      type: "object",
      ...(required.length > 0 && { required }),
      ...(fact.mapType && { "x-kubernetes-map-type": fact.mapType }),
    };
    return lazily(node, "properties", () => this.#propertiesOf(name, overlay));
  }

  #propertiesOf(name: string, overlay: Overlay | undefined): Properties {
    const shared = overlay ? undefined : this.#shared.get(name);
    if (shared) return shared;
    const file = fileOf(name);
    const fields = this.#facts.definition(name)?.fields ?? {};
    const properties: Record<string, Schema> = {};
    const node = (definition: string, inner: Overlay | undefined) => this.node(definition, inner);
    for (const [field, fact] of Object.entries(fields)) {
      lazily(properties, field, () => fieldNode(fact, file, overlay?.below.get(field), node));
    }
    if (!overlay) this.#shared.set(name, properties);
    return properties;
  }
}

const byFacts = new WeakMap<KubernetesFacts, BuiltinSchemas>();

function schemasOf(facts: KubernetesFacts): BuiltinSchemas {
  const schemas = byFacts.get(facts) ?? new BuiltinSchemas(facts);
  byFacts.set(facts, schemas);
  return schemas;
}

/**
 * The schema of a built-in kind in the shape of a CRD's, with what Go knows beyond it under `go`.
 *
 * Nodes are created lazily, because definitions are recursive, and all uses of a definition share its properties: never
 * change a node. `default` is what the server sets when a field is missing.
 */
export function builtinSchema(group: string, version: string, kind: string, facts = kubernetesFacts()): Schema {
  return schemasOf(facts).ofKind(group, version, kind);
}

/** The schema of a definition such as `core.v1.PodSpec`. */
export function definitionSchema(name: string): Schema {
  return schemasOf(kubernetesFacts()).node(name, undefined);
}

type DefinitionNode = (name: string, overlay: Overlay | undefined) => Schema;

function fieldNode(
  [typeText, proto, flags, extras = {}]: FieldFact,
  file: string,
  overlay: Overlay | undefined,
  definitionNode: DefinitionNode,
): Schema {
  const type = parseType(typeText, file);
  const node = typeNode(type, overlay, definitionNode);
  const fallback = overlay && "value" in overlay ? overlay.value : (extras.serverDefault ?? extras.default);
  if (fallback !== undefined) node.default = fallback;
  if (extras.format) node.format = extras.format;
  if (extras.enum) elementNode(node).enum = extras.enum;
  if (extras.listType) node["x-kubernetes-list-type"] = extras.listType;
  if (extras.listKeys) node["x-kubernetes-list-map-keys"] = extras.listKeys;
  if (extras.mapType) node["x-kubernetes-map-type"] = extras.mapType;
  const go: GoField = { ...node.go };
  const path = typeof proto === "number" ? [proto] : proto;
  const number = path.at(-1);
  if (number) go.proto = { field: number, wire: wireOf(type), ...(path.length > 1 && { within: path.slice(0, -1) }) };
  if (extras.patchStrategy || extras.patchKey) {
    go.patch = {
      ...(extras.patchStrategy && { strategy: extras.patchStrategy }),
      ...(extras.patchKey && { mergeKey: extras.patchKey }),
    };
  }
  if (flags.includes("o")) go.omitEmpty = true;
  if (flags.includes("z")) go.omitZero = true;
  if (flags.includes("p")) go.pointer = true;
  node.go = go;
  return node;
}

function elementNode(node: Schema): Schema {
  if (node.items) return node.items;
  return typeof node.additionalProperties === "object" ? node.additionalProperties : node;
}

function typeNode(type: FieldType, overlay: Overlay | undefined, definitionNode: DefinitionNode): Schema {
  switch (type.form) {
    case "scalar":
      return { ...scalarNodes[type.name] };
    case "definition":
      return definitionNode(type.name, overlay);
    case "list":
      return {
        type: "array",
        items: typeNode(type.element, overlay, definitionNode),
        ...(type.wrapped && { go: { message: "Items" } }),
      };
    case "map":
      return { type: "object", additionalProperties: typeNode(type.element, overlay, definitionNode) };
  }
}

const scalarNodes: Record<Scalar, Schema> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float64: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
};

/** Lists of numbers are not packed: each element has its own tag. */
function wireOf(type: FieldType): string {
  if (type.form === "list" && !type.wrapped) return wireOf(type.element);
  if (type.form !== "scalar" || type.name === "string" || type.name === "bytes") return "bytes";
  return type.name === "float64" ? "fixed64" : "varint";
}

function overlayOf(defaults: Record<string, unknown>): Overlay | undefined {
  const paths = Object.entries(defaults);
  if (paths.length === 0) return undefined;
  const root: Overlay = { below: new Map() };
  for (const [path, value] of paths) {
    let at = root;
    for (const name of path.replaceAll(/\[\]|\{\}/g, "").split(".")) {
      const next = at.below.get(name) ?? { below: new Map<string, Overlay>() };
      at.below.set(name, next);
      at = next;
    }
    at.value = value;
  }
  return root;
}

/** A property that is computed when it is first read, and an ordinary one from then on. */
function lazily<T extends object>(target: T, key: string, compute: () => unknown): T {
  return Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get() {
      const value = compute();
      Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true });
      return value;
    },
  });
}
