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

/** A definition that differs from the default version's: `0` stands for a field that is the same there. */
export interface ChangedDefinition extends Omit<DefinitionFact, "fields"> {
  fields?: Record<string, FieldFact | 0>;
}

/** A group that differs from the default version's: the name of a resource stands for one that is the same there. */
export interface ChangedGroup {
  group: string;
  versions: { version: string; resources: (ResourceFact | string)[] }[];
}

/**
 * `data/kubernetes-<minor>.json`: how a version differs from the default one. The file of the default version has no
 * differences.
 */
export interface VersionFile {
  kubernetes: string;
  /** The default version at the time of writing. */
  base: string;
  /** Whether OpenAPI has defaults for the elements of lists and maps; up to 1.36, it has. */
  elementDefaults?: false;
  /** All groups in the order of discovery; the name of a group stands for one that is the same. */
  groups?: (ChangedGroup | string)[];
  /** Files of definitions that the default version does not have. */
  added?: string[];
  /** By file and name; null for a definition that this version does not have. */
  definitions?: Record<string, Record<string, ChangedDefinition | null>>;
  /** Fields of served kinds whose feature gate is off, each with its gate: `core.v1.PodSpec.schedulingGroup`. */
  disabled: Record<string, string>;
}
