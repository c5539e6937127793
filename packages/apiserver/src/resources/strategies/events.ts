import { pathSegmentErrors } from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import type { Event, Stored } from "../../codec/objects.ts";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { ResourceDefinition, Strategy } from "../definition.ts";

/** Events are stored as those of the core group, whichever of the two groups they came through. */
export const event: Strategy = {
  nameErrors: (name) => pathSegmentErrors(name),
  validate({ metadata, involvedObject }: Stored<Event>) {
    const { namespace = "" } = involvedObject;
    const isElsewhere = namespace === "" ? metadata.namespace !== "default" : namespace !== metadata.namespace;
    return isElsewhere ? [invalidValue("involvedObject.namespace", namespace, "does not match event.namespace")] : [];
  },
  fields({ involvedObject: about, reason = "", reportingComponent = "", source, type = "" }: Stored<Event>) {
    const { kind = "", namespace = "", name = "", uid = "", apiVersion = "", resourceVersion = "" } = about;
    const { fieldPath = "" } = about;
    const component = source?.component || reportingComponent;
    return {
      "involvedObject.kind": kind,
      "involvedObject.namespace": namespace,
      "involvedObject.name": name,
      "involvedObject.uid": uid,
      "involvedObject.apiVersion": apiVersion,
      "involvedObject.resourceVersion": resourceVersion,
      "involvedObject.fieldPath": fieldPath,
      "regarding.kind": kind,
      "regarding.namespace": namespace,
      "regarding.name": name,
      "regarding.uid": uid,
      "regarding.apiVersion": apiVersion,
      "regarding.resourceVersion": resourceVersion,
      "regarding.fieldPath": fieldPath,
      reason,
      reportingComponent,
      reportingController: reportingComponent,
      source: component,
      type,
    };
  },
};

/** Asked for as of events.k8s.io, its name is held to the rule of other kinds. */
const { nameErrors: _, ...withoutNameRule } = event;
export const eventOfOwnGroup: Strategy = withoutNameRule;

/** The same fields under the names of either group. */
const NAMES: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

export const convertEvents: ResourceDefinition["convert"] = (objects, apiVersion) =>
  objects.map((object) => {
    if (object.apiVersion === apiVersion) return object;
    const [from, to] = apiVersion === "v1" ? [1, 0] : [0, 1];
    const converted: WorkingObject = { ...object, apiVersion };
    for (const names of NAMES) delete converted[names[from]!];
    for (const names of NAMES) {
      const value = object[names[from]!];
      if (value !== undefined) converted[names[to]!] = value;
    }
    return converted;
  });
