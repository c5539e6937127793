/**
 * One node of a structural schema: the shape a CRD has under `openAPIV3Schema`, used for built-in kinds as well, so that
 * defaulting, pruning, validation, patches and server-side apply have one thing to read. For built-in kinds the nodes
 * are made lazily from the facts (definitions are recursive), so never copy a node by spreading it.
 */
export interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  externalDocs?: { description?: string; url?: string };
  enum?: unknown[];
  nullable?: boolean;

  properties?: { readonly [name: string]: Schema };
  additionalProperties?: Schema | boolean;
  required?: readonly string[];
  minProperties?: number;
  maxProperties?: number;

  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;

  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;

  minLength?: number;
  maxLength?: number;
  pattern?: string;

  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;

  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: ValidationRule[];

  /** Only in the schemas of built-in kinds: what the Go type says about this field beyond its JSON shape. */
  go?: GoField;
}

/** A CEL rule (`x-kubernetes-validations`). */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** What the Go type of a built-in kind says about a field. */
export interface GoField {
  /**
   * Protobuf field number and wire form ("bytes", "varint", "fixed64"). `within` are the field numbers of the messages
   * around it that JSON inlines: a Volume's `emptyDir` is field 2 of a message that is field 2 of the Volume.
   */
  proto?: { field: number; wire: string; within?: readonly number[] };
  /**
   * The type has a JSON form that is not its protobuf message: "Quantity", "IntOrString", "Time", "MicroTime",
   * "RawExtension", "FieldsV1", "JSON", "JSONSchemaPropsOrBool" …; "Items" is a list that is wrapped in a message.
   */
  message?: string;
  /** Strategic merge patch. */
  patch?: { strategy?: string; mergeKey?: string };
  omitEmpty?: boolean;
  omitZero?: boolean;
  pointer?: boolean;
}
