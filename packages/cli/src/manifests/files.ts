import type { Operator } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { checkedName } from "../checked-name.ts";
import { editorSchemas } from "./editor-schema.ts";
import { type ManifestOptions, type OperatorObjects, operatorObjects, partsOf } from "./operator-objects.ts";
import { rolesText } from "./roles-text.ts";

/** Text by path, relative to the folder that the manifests go to. */
export type Files = ReadonlyMap<string, string>;

const WRITTEN = "Written by `konverge manifests`. Change the operator and run it again.";
const HEADER = `# ${WRITTEN}\n`;

/**
 * The manifests of operators as files: a kustomize base for each, and one that combines them. The same input gives the same
 * text.
 */
export function manifestFiles(operators: readonly Operator[], options: ManifestOptions): Files {
  const files = new Map<string, string>();
  for (const operator of operators) {
    const objects = operatorObjects(operator, options);
    const folder = checkedName(operator.name, "operator");
    for (const [path, text] of operatorFiles(operator, objects, options)) files.set(`${folder}/${path}`, text);
  }
  files.set("kustomization.yaml", kustomization({ resources: operators.map(({ name }) => name) }));
  files.set("crds/kustomization.yaml", kustomization({ resources: operators.map(({ name }) => `../${name}/crds`) }));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function operatorFiles(
  operator: Operator,
  objects: OperatorObjects,
  { namespace: home, namespaced, settings }: ManifestOptions,
) {
  const { name } = operator;
  // Kustomize would move the Roles of all namespaces to one.
  const namespace = namespaced ? {} : { namespace: home };
  const parts = partsOf(operator, settings);
  const files = new Map<string, string>();
  const crds = objects.crds.map((crd) => ({ file: `${crd.metadata.name}.yaml`, text: documents([crd]) }));
  for (const { file, text } of crds) files.set(`crds/${file}`, text);
  files.set("crds/kustomization.yaml", kustomization({ resources: crds.map(({ file }) => file) }));
  files.set("service-account.yaml", documents([objects.serviceAccount]));
  files.set("role.yaml", HEADER + rolesText(objects.roles, name, parts));
  files.set("guard.yaml", documents(objects.guard));
  files.set("service.yaml", documents([objects.service]));
  files.set("deployment.yaml", documents([objects.deployment]));
  if (objects.certificates.length > 0) files.set("certificates.yaml", documents(objects.certificates));
  if (objects.webhooks.length > 0) files.set("webhooks.yaml", documents(objects.webhooks));
  const resources = [
    "crds",
    "service-account.yaml",
    "role.yaml",
    "guard.yaml",
    "service.yaml",
    ...(objects.certificates.length > 0 ? ["certificates.yaml"] : []),
    ...(objects.webhooks.length > 0 ? ["webhooks.yaml"] : []),
    "deployment.yaml",
  ];
  files.set("kustomization.yaml", kustomization({ ...namespace, resources }));
  files.set("classic-role/role.yaml", documents(objects.classicRoles));
  files.set("classic-role/kustomization.yaml", kustomization({ component: true, resources: ["role.yaml"] }));
  const components = {
    "monitoring/service-monitor": objects.serviceMonitor,
    "network-policy/network-policy": objects.networkPolicy,
    "disruption-budget/disruption-budget": objects.disruptionBudget,
  };
  for (const [path, object] of Object.entries(components)) {
    const [folder, file] = path.split("/");
    files.set(`${path}.yaml`, documents([object]));
    const resources = [`${file}.yaml`];
    files.set(`${folder}/kustomization.yaml`, kustomization({ component: true, ...namespace, resources }));
  }
  for (const crd of objects.crds) {
    for (const [version, schema] of editorSchemas(crd)) {
      const text = JSON.stringify({ $comment: WRITTEN, ...schema }, undefined, 2);
      files.set(`schemas/${crd.spec.names.singular ?? crd.spec.names.plural}-${version}.json`, `${text}\n`);
    }
  }
  return files;
}

function documents(objects: readonly object[]): string {
  return HEADER + objects.map((object) => printYaml(object)).join("---\n");
}

function kustomization({
  component = false,
  namespace,
  resources,
}: {
  component?: boolean;
  namespace?: string;
  resources: readonly string[];
}): string {
  const [version, kind] = component ? ["v1alpha1", "Component"] : ["v1beta1", "Kustomization"];
  return (
    HEADER +
    printYaml({
      apiVersion: `kustomize.config.k8s.io/${version}`,
      kind,
      ...(namespace && { namespace }),
      resources: [...resources],
    })
  );
}
