// The form of the data files. They are written by `npm run facts` and read by facts.ts alone; everything else reads
// the friendlier forms that facts.ts makes of them.

/**
 * A field: type, protobuf field number, flags, and what only some fields have.
 *
 * The type is a scalar (`string`, `bool`, `int32`, `int64`, `float64`, `bytes`), the name of a definition (without its
 * group-version when it is in the same file), `[]` before an element type, `map[]` before a value type, or `items[]` for
 * a list that protobuf wraps in a message. The number is 0 for a field that protobuf does not carry and a list for one that sits in a message which JSON inlines. Flags: `o`
 * omitempty, `z` omitzero, `p` pointer, `r` required.
 */
export type FieldFact = [type: string, proto: number | number[], flags: string, extras?: FieldExtras];

export interface FieldExtras {
  /** The default that OpenAPI publishes, where it is not just the zero value. */
  default?: unknown;
  /** What the server's defaulting sets when the field is missing, whatever else the object says. */
  serverDefault?: unknown;
  /** Values of the field or, for a list or map, of its elements. */
  enum?: string[];
  format?: string;
  listType?: "atomic" | "set" | "map";
  listKeys?: string[];
  mapType?: "atomic" | "granular";
  patchStrategy?: string;
  patchKey?: string;
}

export interface DefinitionFact {
  /** In the order in which the server writes them. */
  fields?: Record<string, FieldFact>;
  /** The type has its own JSON form (quantities, times …), see custom-types.ts. */
  custom?: true;
  mapType?: "atomic" | "granular";
  unions?: unknown[];
  /** Not in the server's OpenAPI. */
  unpublished?: true;
  /** Group-versions that know the definition as a kind, where they are not just its own. */
  groupVersions?: string[];
}

/** `data/<group>.<version>.json`. */
export type DefinitionsFile = Record<string, DefinitionFact>;

export interface ColumnFact {
  name: string;
  type: string;
  format?: string;
  priority: number;
}

export interface SubresourceFact {
  name: string;
  verbs: string[];
  /** The kind of what is sent and returned, where it is not the resource's own. */
  group?: string;
  version?: string;
  kind?: string;
}

export interface ResourceFact {
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: SubresourceFact[];
  /** Name of the definition of its objects. */
  definition: string;
  columns?: ColumnFact[];
  /** Fields that a field selector may name. */
  selectable?: string[];
  /** Defaults that hold at this path of this kind, though not wherever the same definition is used. */
  pathDefaults?: Record<string, unknown>;
  /** Paths whose default the server computes from other fields: code, not data, has to set them. */
  computedDefaults?: string[];
}

/** `data/resources.json`: in the order of discovery, preferred groups and versions first. */
export interface ResourcesFile {
  kubernetes: string;
  groups: { group: string; versions: { version: string; resources: ResourceFact[] }[] }[];
}
