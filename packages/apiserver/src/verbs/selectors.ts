import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from "@konverge/core";
import type { Entry } from "../storage/collection.ts";
import type { Call } from "./call.ts";

/** Which entries a list or watch is about. */
export interface Selection {
  /** `namespace/` or the empty string. */
  readonly prefix: string;
  matches(entry: Entry): boolean;
}

export function selectionOf(call: Call): Selection {
  const { info, definition } = call;
  const labels = info.query.get("labelSelector");
  const fields = info.query.get("fieldSelector");
  const byLabel = labels ? parseLabelSelector(labels) : undefined;
  const byField = fields ? parseFieldSelector(fields) : undefined;
  return {
    prefix: definition.namespaced && info.namespace ? `${info.namespace}/` : "",
    matches: (entry) =>
      (!byLabel || matchesLabels(byLabel, entry.labels)) && (!byField || matchesFields(byField, fieldsOf(entry))),
  };
}

function fieldsOf(entry: Entry): Record<string, string> {
  const slash = entry.key.indexOf("/");
  return {
    ...entry.fields,
    "metadata.name": entry.key.slice(slash + 1),
    "metadata.namespace": slash < 0 ? "" : entry.key.slice(0, slash),
  };
}
