import type { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { checkedName } from "../checked-name.ts";
import type { Schema } from "../diff-crd/schema-changes.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import type { Files } from "../manifests/files.ts";
import { operatorObjects } from "../manifests/operator-objects.ts";
import { cell, fieldRows, ruleText } from "./field-rows.ts";

const HEADER = "<!-- Written by `konverge docs`. Change the operator and run it again. -->\n\n";

/** The API reference of operators' kinds: a page for each kind, and one that lists them. The same input gives the same text. */
export function kindPages(operators: readonly Operator[]): Files {
  const files = new Map<string, string>();
  const rows: string[] = [];
  for (const operator of operators) {
    const { crds } = operatorObjects(operator, { namespace: DEFAULT_NAMESPACE, image: DEFAULT_IMAGE });
    for (const crd of crds) {
      const file = `${checkedName(crd.spec.names.singular ?? crd.spec.names.plural, "kind")}.md`;
      files.set(file, kindPage(crd));
      rows.push(`| [${crd.spec.names.kind}](${file}) | ${crd.spec.group} | ${operator.name} | ${summary(crd)} |`);
    }
  }
  const index = ["# Kinds", "", "| kind | group | operator | |", "|---|---|---|---|", ...rows.sort(), ""];
  files.set("README.md", HEADER + index.join("\n"));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function summary({ spec }: CustomResourceDefinition): string {
  const stored = spec.versions.find(({ storage }) => storage);
  const [first = ""] = (stored?.schema?.openAPIV3Schema?.description ?? "").split(/(?<=[.!?])\s/);
  return cell(first);
}

function kindPage({ spec }: CustomResourceDefinition): string {
  const { names, group, scope, versions } = spec;
  const shorts = names.shortNames?.length ? [`Short names: ${names.shortNames.map(code).join(", ")}.`] : [];
  const lines = [
    `# ${names.kind}`,
    "",
    `\`${names.plural}.${group}\`, ${scope === "Namespaced" ? "namespaced" : "cluster-scoped"}. ${shorts.join("")}`.trim(),
    "",
    ...versions.flatMap((version) => versionSection(version, group)),
  ];
  return HEADER + lines.join("\n");
}

type Version = CustomResourceDefinition["spec"]["versions"][number];

function versionSection(version: Version, group: string): string[] {
  const { name, served, storage, deprecated, deprecationWarning, subresources, selectableFields = [] } = version;
  const schema = (version.schema?.openAPIV3Schema ?? {}) as Schema & { description?: string };
  const facts = [
    ...(storage ? ["stored"] : []),
    ...(served ? [] : ["not served"]),
    ...(deprecated ? [`deprecated${deprecationWarning ? ` (${cell(deprecationWarning)})` : ""}`] : []),
    ...(subresources?.status ? ["with a status subresource"] : []),
    ...(subresources?.scale ? ["with a scale subresource"] : []),
  ];
  const selectable = selectableFields.map(({ jsonPath }) => code(jsonPath));
  const rules = (schema["x-kubernetes-validations"] ?? []) as readonly { rule: string; message?: string }[];
  return [
    `## ${group}/${name}`,
    "",
    ...(schema.description ? [schema.description.trim(), ""] : []),
    ...(facts.length > 0 ? [`This version is ${facts.join(", ")}.`, ""] : []),
    ...(selectable.length > 0 ? [`Selectable fields: ${selectable.join(", ")}.`, ""] : []),
    ...(rules.length > 0
      ? ["Rules for the whole object:", "", ...rules.map((rule) => `- ${ruleText(rule)}.`), ""]
      : []),
    ...section("spec", schema),
    ...section("status", schema),
    ...Object.keys(schema.properties ?? {})
      .filter((one) => !["apiVersion", "kind", "metadata", "spec", "status"].includes(one))
      .sort()
      .flatMap((one) => section(one, schema)),
    ...columns(version),
  ];
}

function section(name: string, { properties = {} }: Schema): string[] {
  const schema = properties[name];
  if (!schema) return [];
  const rows = fieldRows(schema, name);
  return [`### ${name}`, "", "| field | type | description |", "|---|---|---|", ...rows, ""];
}

function columns({ additionalPrinterColumns: shown = [] }: Version): string[] {
  if (shown.length === 0) return [];
  const rows = shown.map(({ name, jsonPath, priority }) => {
    return `| ${cell(name)} | ${code(jsonPath)} | ${priority ? "only with `-o wide`" : ""} |`;
  });
  return ["### Columns of `kubectl get`", "", "| column | value | |", "|---|---|---|", ...rows, ""];
}

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
