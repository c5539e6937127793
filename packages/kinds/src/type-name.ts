/** The type of a field, taken apart. */
export type FieldType =
  | { form: "scalar"; name: Scalar }
  | { form: "definition"; name: string }
  /** `wrapped`: in protobuf the list is the first field of a separate message. */
  | { form: "list"; element: FieldType; wrapped?: true }
  | { form: "map"; element: FieldType };

export type Scalar = "string" | "bool" | "int32" | "int64" | "float64" | "bytes";

const scalars = new Set(["string", "bool", "int32", "int64", "float64", "bytes"]);

/** Reads a type name of the data files; names without a group-version get that of the file they are in. */
export function parseType(text: string, file: string): FieldType {
  if (text.startsWith("[]")) return { form: "list", element: parseType(text.slice(2), file) };
  if (text.startsWith("items[]")) return { form: "list", element: parseType(text.slice(7), file), wrapped: true };
  if (text.startsWith("map[]")) return { form: "map", element: parseType(text.slice(5), file) };
  if (scalars.has(text)) return { form: "scalar", name: text as Scalar };
  return { form: "definition", name: text.includes(".") ? text : `${file}.${text}` };
}

/** `apps.v1` for `apps.v1.Deployment`: the file that has the definition. */
export function fileOf(definition: string): string {
  return definition.slice(0, definition.lastIndexOf("."));
}

/** The definition or scalar that a type is a list or map of, or is itself. */
export function elementName(text: string): string {
  return text.replace(/^(\[\]|items\[\]|map\[\])*/, "");
}
