import { deepEqual, parseJson, parseQuantity, type QuantityValue } from "@konverge/core";
import type { Pod, RuntimeClass, Toleration } from "../codec/objects.ts";
import { type AdmissionAttributes, type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

/** Pods of a runtime class carry its overhead, and go where it runs. */
export const runtimeClass: AdmissionPlugin = {
  name: "RuntimeClass",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, "/pods"),
  mutate(attributes) {
    const { spec } = attributes.object as unknown as Pod;
    const { overhead, scheduling } = classOf(attributes) ?? {};
    if (overhead) {
      if (Object.keys(spec.overhead ?? {}).length > 0 && !sameAmounts(spec.overhead, overhead.podFixed)) {
        throw refusal(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
      if (overhead.podFixed) spec.overhead = { ...overhead.podFixed };
    }
    if (!scheduling) return;
    for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
      const given = spec.nodeSelector?.[key];
      if (given !== undefined && given !== value) {
        const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${given}`;
        throw refusal(attributes, why);
      }
      spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
    }
    const tolerations = merged([...(spec.tolerations ?? []), ...(scheduling.tolerations ?? [])]);
    if (tolerations.length > 0) spec.tolerations = tolerations;
  },
  validate(attributes) {
    const { spec } = attributes.object as unknown as Pod;
    const { overhead } = classOf(attributes) ?? {};
    if (overhead && !sameAmounts(spec.overhead, overhead.podFixed)) {
      throw refusal(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    if (!overhead && spec.overhead !== undefined) {
      const why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
      throw refusal(attributes, why);
    }
  },
};

function classOf(attributes: AdmissionAttributes): RuntimeClass | undefined {
  const { runtimeClassName: name } = (attributes.object as unknown as Pod).spec;
  if (name === undefined) return undefined;
  const entry = attributes.call.store.collection("node.k8s.io/runtimeclasses").get(name);
  if (!entry) throw refusal(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return parseJson(entry.text) as RuntimeClass;
}

type Amounts = Record<string, QuantityValue> | undefined;

function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => b[name] !== undefined && parseQuantity(a[name]!).cmp(parseQuantity(b[name])) === 0);
}

/** Tolerations without those that others make superfluous. */
function merged(all: readonly Toleration[]): Toleration[] {
  const kept: Toleration[] = [];
  all.forEach((one, index) => {
    if (kept.some((other) => covers(other, one))) return;
    // Of equal ones the first stays.
    if (all.slice(index + 1).some((other) => !deepEqual(other, one) && covers(other, one))) return;
    kept.push(one);
  });
  return kept;
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true;
  const isAnyKey = (wide.key ?? "") === "" && wide.operator === "Exists";
  if ((wide.key ?? "") !== (narrow.key ?? "") && !isAnyKey) return false;
  if ((wide.effect ?? "") !== (narrow.effect ?? "") && (wide.effect ?? "") !== "") return false;
  if (wide.effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === "Exists") return true;
  if ((wide.operator ?? "") !== "" && wide.operator !== "Equal") return false;
  return narrow.operator === "Equal" && (wide.value ?? "") === (narrow.value ?? "");
}
