import { ageColumn, conditionColumn, defineKind, immutable, type ObjectOf, z } from "konverge";

/** An image to be built from sources. What it is built from never changes: another image is another object. */
export const DynamoComponent = defineKind({
  group: "nvidia.com",
  kind: "DynamoComponent",
  shortNames: ["dc"],
  versions: {
    v1alpha1: {
      spec: z.object({
        context: z.string().min(1).check(immutable()),
        destination: z.string().min(1).check(immutable()),
        dockerfile: z.string().default("Dockerfile").check(immutable()),
        pushSecret: z.string().optional(),
      }),
      status: z.object({ image: z.string().optional(), job: z.string().optional() }),
      columns: { Image: ".spec.destination", Built: conditionColumn("ImageBuilt"), Age: ageColumn },
    },
  },
});
export type DynamoComponent = ObjectOf<typeof DynamoComponent>;
