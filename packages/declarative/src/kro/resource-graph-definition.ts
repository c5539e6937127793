import {
  ageColumn,
  cel,
  conditionColumn,
  defineKind,
  immutable,
  type ObjectOf,
  opaqueObject,
  rawSchema,
  z,
} from "@konverge/schema";

const strings = () => z.record(z.string(), z.string());

const schemaPart = z.object({
  kind: z
    .string()
    .regex(/^[A-Z][a-zA-Z0-9]{0,62}$/)
    .check(immutable()),
  apiVersion: z
    .string()
    .regex(/^v[0-9]+(alpha[0-9]+|beta[0-9]+)?$/)
    .check(immutable()),
  group: z.string().default("kro.run").check(immutable()),
  spec: opaqueObject<Record<string, unknown>>().optional(),
  types: opaqueObject<Record<string, unknown>>().optional(),
  status: opaqueObject<Record<string, unknown>>().optional(),
  scope: z.enum(["Namespaced", "Cluster"]).default("Namespaced").check(immutable()),
  additionalPrinterColumns: z
    .array(
      z.object({
        name: z.string(),
        type: z.string(),
        jsonPath: z.string(),
        description: z.string().optional(),
        format: z.string().optional(),
        priority: z.int().optional(),
      }),
    )
    .optional(),
  shortNames: z.array(z.string()).optional(),
  categories: z.array(z.string()).optional(),
  metadata: z.object({ labels: strings().optional(), annotations: strings().optional() }).optional(),
});

const externalRef = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    name: z.string().optional(),
    namespace: z.string().optional(),
    // Either a label selector or an expression.
    selector: rawSchema<unknown>({ "x-kubernetes-preserve-unknown-fields": true }).optional(),
  }),
});

const resource = z
  .object({
    id: z.string(),
    template: opaqueObject<Record<string, unknown>>().optional(),
    externalRef: externalRef.optional(),
    readyWhen: z.array(z.string()).optional(),
    includeWhen: z.array(z.string()).optional(),
    forEach: z.array(strings()).optional(),
  })
  .check(cel("has(self.template) != has(self.externalRef)", "set either template or externalRef"));

/** A graph of resources behind a custom kind: the API of kro 0.9. */
export const ResourceGraphDefinition = defineKind({
  group: "kro.run",
  kind: "ResourceGraphDefinition",
  scope: "Cluster",
  shortNames: ["rgd"],
  versions: {
    v1alpha1: {
      spec: z.object({ schema: schemaPart, resources: z.array(resource).optional() }),
      status: z.object({
        state: z.string().optional(),
        topologicalOrder: z.array(z.string()).optional(),
        resources: z
          .array(z.object({ id: z.string(), dependencies: z.array(z.object({ id: z.string() })).optional() }))
          .optional(),
      }),
      columns: {
        APIVERSION: ".spec.schema.apiVersion",
        KIND: ".spec.schema.kind",
        STATE: ".status.state",
        READY: conditionColumn("Ready"),
        AGE: ageColumn,
      },
    },
  },
});
export type ResourceGraphDefinition = ObjectOf<typeof ResourceGraphDefinition>;

/** The part of a definition that describes its kind. */
export type GraphSchema = ResourceGraphDefinition["spec"]["schema"];
/** A resource of a graph. */
export type GraphResource = NonNullable<ResourceGraphDefinition["spec"]["resources"]>[number];
