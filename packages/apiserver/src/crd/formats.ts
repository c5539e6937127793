import { own, type Schema } from "@konverge/core";
import { isObject } from "@konverge/schema/patch";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";
import { hoisted } from "./hoisted-spec.ts";

/** The formats of strings that the server enforces, without dashes. */
const STRING_FORMATS = new Set(
  `bsonobjectid byte cidr creditcard date datetime duration email hexcolor hostname ipv4 ipv6 isbn isbn10 isbn13
  k8slongname k8sshortname mac password rgbcolor ssn uri uuid uuid3 uuid4 uuid5`.split(/\s+/),
);
const NUMBER_FORMATS: Record<string, readonly string[]> = { integer: ["int32", "int64"], number: ["float", "double"] };

/** The formats in a CRD's schemas that nothing will be checked against. */
export function unrecognizedFormats({ spec }: CustomResourceDefinition): string[] {
  const { validation, versions } = hoisted(spec);
  return [validation, ...versions.map(({ schema }) => schema)].flatMap((schema) =>
    schema?.openAPIV3Schema ? formatsIn(schema.openAPIV3Schema) : [],
  );
}

function formatsIn(schema: Schema): string[] {
  const { format = "", type = "" } = schema;
  const own = format !== "" && !isKnown(type, format) ? [format] : [];
  return [...own, ...partsOf(schema).flatMap(formatsIn)];
}

function isKnown(type: string, format: string): boolean {
  if (type === "" || type === "string") return STRING_FORMATS.has(format.replaceAll("-", ""));
  return own(NUMBER_FORMATS, type)?.includes(format) ?? false;
}

function partsOf(schema: Schema): Schema[] {
  const { items, properties, additionalProperties, allOf = [], anyOf = [], oneOf = [], not } = schema;
  const all = [items, ...allOf, ...oneOf, ...anyOf, not, ...Object.values(properties ?? {}), additionalProperties];
  return all.filter((part): part is Schema => isObject(part));
}
