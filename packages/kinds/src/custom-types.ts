import type { Schema } from "@konverge/core";

/** Types that write their own JSON: how a schema describes them, and what they are in TypeScript. */
interface CustomType {
  schema: Schema;
  /** As the server's OpenAPI has it. */
  published: object;
  typescript: string;
}

const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
const intOrString: Schema = { "x-kubernetes-int-or-string": true };
const time: CustomType = {
  schema: { type: "string", format: "date-time" },
  published: { type: "string", format: "date-time" },
  typescript: "string",
};
const openObject: CustomType = {
  schema: { type: "object", ...anything },
  published: { type: "object" },
  typescript: "Readonly<Record<string, unknown>>",
};

export const customTypes: { readonly [definition: string]: CustomType } = {
  "resource.Quantity": {
    schema: intOrString,
    published: { oneOf: [{ type: "string" }, { type: "number" }] },
    typescript: "QuantityValue",
  },
  "intstr.IntOrString": {
    schema: intOrString,
    published: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
    typescript: "number | string",
  },
  "meta.v1.Time": time,
  "meta.v1.MicroTime": time,
  "meta.v1.Duration": { schema: { type: "string" }, published: { type: "string" }, typescript: "string" },
  "meta.v1.FieldsV1": openObject,
  "runtime.RawExtension": openObject,
  "apiextensions.v1.JSON": { schema: anything, published: {}, typescript: "unknown" },
  "apiextensions.v1.JSONSchemaPropsOrBool": {
    schema: anything,
    published: {},
    typescript: "JSONSchemaProps | boolean",
  },
  "apiextensions.v1.JSONSchemaPropsOrArray": {
    schema: anything,
    published: {},
    typescript: "JSONSchemaProps | readonly JSONSchemaProps[]",
  },
  "apiextensions.v1.JSONSchemaPropsOrStringArray": {
    schema: anything,
    published: {},
    typescript: "JSONSchemaProps | readonly string[]",
  },
};
