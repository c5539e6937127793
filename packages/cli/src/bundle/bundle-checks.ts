import type { KubeObject } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import type { Schema } from "../diff-crd/schema-changes.ts";
import { operatorObjects, partsOf } from "../manifests/operator-objects.ts";
import type { BundleOptions } from "./cluster-service-version.ts";

/** A finding about a bundle. An error makes it unusable, a warning makes it less useful. */
export interface BundleFinding {
  readonly level: "error" | "warning";
  readonly operator: string;
  readonly message: string;
}

/** What `operator-sdk scorecard` and the validators of catalogs find, without a cluster. */
export function bundleFindings(operators: readonly Operator[], options: BundleOptions): BundleFinding[] {
  return operators.flatMap((operator) => {
    const findings: BundleFinding[] = [];
    const add = (level: BundleFinding["level"], message: string) =>
      findings.push({ level, operator: operator.name, message });
    if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(options.version))
      add("error", `version ${options.version} is not a semantic version such as 1.2.3`);
    if (!/[:@][^/]+$/.test(options.image) || options.image.endsWith(":latest"))
      add("warning", `image ${options.image} has no fixed tag: the bundle installs whatever it is at that time`);
    if (options.provider === undefined) add("warning", "the provider is unknown: name it with --provider");
    for (const kind of operator.kinds) sampleFindings(kind, options.samples, add);
    for (const crd of operatorObjects(operator, { ...options, namespace: operator.name }).crds) crdFindings(crd, add);
    for (const { kind, owns } of partsOf(operator).controllers)
      if (owns.length === 0)
        add("warning", `${kind.kind}: its controller owns no children, so no resources are listed`);
    return findings;
  });
}

/** A kind that was defined with defineKind, as those of operators are. */
type Kind = Operator["kinds"][number] & {
  validate(object: never): readonly { readonly field: string; readonly message: string }[];
};
type Add = (level: BundleFinding["level"], message: string) => void;

function sampleFindings(kind: Operator["kinds"][number], samples: readonly KubeObject[], add: Add): void {
  const own = samples.filter(
    ({ apiVersion = "", kind: name }) => name === kind.kind && apiVersion.split("/")[0] === kind.group,
  );
  if (own.length === 0) add("warning", `${kind.kind}: there is no sample, so consoles have no example to start from`);
  for (const sample of own) {
    const { name } = sample.metadata;
    if (!("spec" in sample)) add("error", `${kind.kind} ${name}: the sample has no spec`);
    if (sample.apiVersion !== `${kind.group}/${kind.version}`) continue;
    for (const { field, message } of (kind as Kind).validate(sample as never))
      add("error", `${kind.kind} ${name}: ${field}: ${message}`);
  }
}

/** What Konverge adds to each status. */
const ADDED = new Set(["conditions", "observedGeneration"]);

function crdFindings({ metadata, spec }: CustomResourceDefinition, add: Add): void {
  for (const { name: version, schema, served } of spec.versions) {
    if (!served) continue;
    const { properties = {} } = (schema?.openAPIV3Schema ?? {}) as Schema;
    const where = `${metadata.name} ${version}`;
    for (const part of ["spec", "status"]) {
      const fields = Object.entries(properties[part]?.properties ?? {});
      const bare = fields
        .filter(([, field]) => !(field as { description?: string }).description)
        .map(([field]) => field);
      const described = bare.filter((field) => !ADDED.has(field));
      if (described.length > 0)
        add("warning", `${where}: ${part} fields without a description: ${described.join(", ")}`);
    }
  }
}
