import { apiVersionOf, type Schema } from "@konverge/core";
import type { CrdNames } from "@konverge/schema";
import { customCodec } from "../codec/custom.ts";
import type { ResourceDefinition, ResourceVersion, SubresourceDefinition } from "../resources/definition.ts";
import { compareVersions } from "../resources/version-order.ts";
import type { CrdSpec, CrdVersion, CustomResourceDefinition } from "./custom-resource-definition.ts";
import { instanceStrategy } from "./instance-strategy.ts";

/** In the order of discovery. */
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** The resource that a CRD defines, with the names it has been granted. */
export function resourceOf(
  crd: CustomResourceDefinition,
  since: number,
  conversion: Pick<ResourceDefinition, "convert" | "convertsByWebhook">,
): ResourceDefinition {
  const { spec, status } = crd;
  const { group } = spec;
  const names = status.acceptedNames;
  const stored = spec.versions.find((version) => version.storage)!;
  const codecs = new Map(
    spec.versions.map((version) => [apiVersionOf({ group, version: version.name }), customCodec(schemaOf(version))]),
  );
  const served = spec.versions.filter((version) => version.served).sort((a, b) => compareVersions(a.name, b.name));
  return {
    group,
    plural: names.plural,
    singular: names.singular ?? "",
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    storageVersion: stored.name,
    storedAs: apiVersionOf({ group, version: stored.name }),
    storageCodec: codecs.get(apiVersionOf({ group, version: stored.name }))!,
    codecOf: (apiVersion) => codecs.get(apiVersion) ?? codecs.get(apiVersionOf({ group, version: stored.name }))!,
    versions: new Map(served.map((version) => [version.name, versionOf(spec, names, version)])),
    strategy: instanceStrategy(crd),
    custom: true,
    storage: `${group}/${names.plural}`,
    since,
    ...conversion,
  };
}

/** The version in which instances are stored, whether it is served or not. */
export function storageVersionOf({ spec, status }: CustomResourceDefinition): ResourceVersion {
  return versionOf(spec, status.acceptedNames, spec.versions.find((version) => version.storage)!);
}

/** The schema of a version. */
export function schemaOf(version: CrdVersion): Schema {
  return version.schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
}

function versionOf(spec: CrdSpec, names: CrdNames, version: CrdVersion): ResourceVersion {
  const { group } = spec;
  const schema = schemaOf(version);
  const { name, subresources = {}, selectableFields, additionalPrinterColumns } = version;
  const kind = { group, version: name, kind: names.kind };
  const verbs = ["get", "patch", "update"];
  const served: SubresourceDefinition[] = [];
  if (subresources.status) served.push({ name: "status", verbs, kind });
  if (subresources.scale) {
    served.push({ name: "scale", verbs, kind: { group: "autoscaling", version: "v1", kind: "Scale" } });
  }
  return {
    version: name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    verbs: VERBS,
    schema,
    codec: customCodec(schema),
    subresources: new Map(served.map((subresource) => [subresource.name, subresource])),
    columns: (additionalPrinterColumns ?? []).map((column) => ({ format: "", priority: 0, ...column })),
    selectableFields: (selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    ...(subresources.scale && { scale: subresources.scale }),
    ...(version.deprecated && { deprecation: version.deprecationWarning ?? deprecation(spec, name) }),
  };
}

/** What is said of a deprecated version that does not say it itself. */
function deprecation({ group, names, versions }: CrdSpec, name: string): string {
  const [better] = versions
    .filter((version) => version.served && !version.deprecated && compareVersions(version.name, name) < 0)
    .map((version) => version.name)
    .sort(compareVersions);
  const text = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${group}/${better} ${names.kind}`;
}
