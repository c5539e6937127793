import { badRequest, quoted } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { type ListMetadata, partialMetadata } from "./partial-metadata.ts";

const POLICIES = ["", "None", "Metadata", "Object"];

/** Throws what a server answers to a wrong includeObject parameter. */
export function checkTableParameters(call: Call): void {
  const policy = call.info.query.get("includeObject") ?? "";
  if (POLICIES.includes(policy)) return;
  const detail = "must be 'Metadata', 'Object', 'None', or empty";
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoted(policy)}: ${detail}`,
  );
}

/** Objects as the table that kubectl prints. `headers` is false for all but the first event of a watch. */
export function tableOf(
  call: Call,
  objects: readonly WorkingObject[],
  metadata: ListMetadata,
  { headers = true } = {},
): object {
  checkTableParameters(call);
  const { apiVersion } = call.form;
  const policy = call.info.query.get("includeObject") ?? "";
  const { columnDefinitions, rows } = call.tables(call, objects);
  return {
    kind: "Table",
    apiVersion,
    metadata,
    columnDefinitions: headers ? columnDefinitions : null,
    rows: rows.map((row, index) => ({ ...row, object: included(objects[index]!, policy, apiVersion) })),
  };
}

function included(object: WorkingObject, policy: string, apiVersion: string): object | null {
  if (policy === "Object") return object;
  const isMark = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
  return policy === "None" && !isMark ? null : partialMetadata(object, apiVersion);
}
