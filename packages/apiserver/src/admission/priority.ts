import { parseJson } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { Pod, PriorityClass } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

const CLASSES = "scheduling.k8s.io/priorityclasses";

/** A pod's priority is that of its class, or of the default one; there is only one default. */
export const priority: AdmissionPlugin = {
  name: "Priority",
  handles: (attributes) =>
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE") && isAbout(attributes, "/pods", CLASSES),
  mutate(attributes) {
    if (attributes.resource !== "pods") return;
    const { spec } = attributes.object as unknown as Pod;
    if (attributes.operation === "UPDATE") {
      const old = (attributes.old as unknown as Pod).spec;
      if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
      if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) {
        spec.preemptionPolicy = old.preemptionPolicy;
      }
      return;
    }
    const name = spec.priorityClassName ?? "";
    const chosen = name === "" ? defaultClass(attributes.call) : classNamed(attributes.call, name);
    if (!chosen && name !== "") throw refusal(attributes, `no PriorityClass with name ${name} was found`);
    if (chosen) spec.priorityClassName = chosen.metadata.name;
    const value = chosen?.value ?? 0;
    if (spec.priority !== undefined && spec.priority !== value) {
      const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
      throw refusal(attributes, why);
    }
    spec.priority = value;
    const policy = chosen?.preemptionPolicy ?? "PreemptLowerPriority";
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
      throw refusal(attributes, why);
    }
    spec.preemptionPolicy = policy;
  },
  validate(attributes) {
    if (attributes.resource === "pods" || attributes.subresource !== "") return;
    const added = attributes.object as unknown as PriorityClass;
    if (!added.globalDefault) return;
    const other = defaultClass(attributes.call);
    if (!other || other.metadata.name === added.metadata.name) return;
    const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw refusal(attributes, why);
  },
};

function classNamed({ store }: Call, name: string): PriorityClass | undefined {
  const entry = store.collection(CLASSES).get(name);
  return entry && (parseJson(entry.text) as PriorityClass);
}

/** Of several defaults (they may have come in at the same time) the lowest counts. */
function defaultClass({ store }: Call): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const entry of store.collection(CLASSES).scan("")) {
    if (!entry.text.includes('"globalDefault":true')) continue;
    const found = parseJson(entry.text) as PriorityClass;
    if (!lowest || (found.value ?? 0) < (lowest.value ?? 0)) lowest = found;
  }
  return lowest;
}
