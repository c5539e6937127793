import { defineKind, type ObjectOf } from "konverge";
import { betaConversion, snakeCaseConversion } from "./graph-conversion.ts";
import { v1, v1alpha1, v1beta1 } from "./graph-versions.ts";

/** A graph of services that serve a model together. */
export const DynamoGraphDeployment = defineKind({
  group: "nvidia.com",
  kind: "DynamoGraphDeployment",
  shortNames: ["dgd"],
  stored: "v1alpha1",
  versions: { v1alpha1, v1beta1, v1 },
  conversion: { v1beta1: betaConversion, v1: snakeCaseConversion },
});
export type DynamoGraphDeployment = ObjectOf<typeof DynamoGraphDeployment>;
