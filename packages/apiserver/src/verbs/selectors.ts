import {
  badRequest,
  exactFieldValue,
  type FieldRequirement,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from "@konverge/core";
import type { Entry } from "../storage/collection.ts";
import type { Call } from "./call.ts";

/** Which entries a list or watch is about. */
export interface Selection {
  /** `namespace/` or the empty string. */
  readonly prefix: string;
  /** Everything below the prefix is selected. */
  readonly all: boolean;
  matches(entry: Entry): boolean;
}

/** Reads the selectors of a request; a name in the path (of a watch) selects too. */
export function selectionOf(call: Call): Selection {
  const { info, definition } = call;
  const byLabel = parsed(() => parseLabelSelector(info.query.get("labelSelector") ?? ""));
  const byField = fieldsSelected(call);
  const namespace = info.namespace || exactFieldValue(byField, "metadata.namespace") || "";
  return {
    prefix: definition.namespaced && namespace ? `${namespace}/` : "",
    all: byLabel.length === 0 && byField.length === 0,
    matches: (entry) =>
      (byLabel.length === 0 || matchesLabels(byLabel, entry.labels)) &&
      (byField.length === 0 || matchesFields(byField, fieldsOf(entry))),
  };
}

function fieldsSelected(call: Call): readonly FieldRequirement[] {
  const { info, version } = call;
  const requirements = parsed(() => parseFieldSelector(info.query.get("fieldSelector") ?? ""));
  const known = new Set(["metadata.name", "metadata.namespace", ...version.selectableFields]);
  for (const { field } of requirements) {
    if (!known.has(field)) throw unknownField(call, field);
  }
  if (info.name === "") return requirements;
  if (requirements.length === 0) return [{ field: "metadata.name", operator: "=", value: info.name }];
  if (exactFieldValue(requirements, "metadata.name") !== info.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return requirements;
}

function unknownField({ definition, version }: Call, field: string) {
  const name = definition.custom || version.selectableFields.length <= 2 ? JSON.stringify(field) : field;
  const text = name === field ? `field label not supported: ${field}` : `${name} is not a known field selector`;
  const hint = ': only "metadata.name", "metadata.namespace"';
  return badRequest(name === field ? text : `${text}${hint}`);
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.message) : error;
  }
}

function fieldsOf(entry: Entry): Record<string, string> {
  const slash = entry.key.indexOf("/");
  return {
    ...entry.fields,
    "metadata.name": entry.key.slice(slash + 1),
    "metadata.namespace": slash < 0 ? "" : entry.key.slice(0, slash),
  };
}
