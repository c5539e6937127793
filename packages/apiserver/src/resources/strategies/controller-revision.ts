import { stringifyJson } from "@konverge/core";
import type { ControllerRevision } from "@konverge/kinds";
import { required } from "@konverge/schema";
import type { Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { nonNegative } from "./pod-spec/checks.ts";

/** A state of a workload that can be returned to, and so never changes. */
export const controllerRevision: Strategy = {
  validate({ revision, data }: Stored<ControllerRevision>) {
    const errors = nonNegative("revision", Number(revision ?? 0));
    if (data === undefined || data === null) return [...errors, required("data", "data is mandatory")];
    if (typeof data !== "object" || Array.isArray(data)) {
      return [...errors, required("data", "data must be a valid JSON object")];
    }
    return errors;
  },
  validateChange({ revision, data }: Stored<ControllerRevision>, old: Stored<ControllerRevision>) {
    const errors = nonNegative("revision", Number(revision ?? 0));
    // It is compared as text: the order of keys counts.
    const text = stringifyJson(data ?? null);
    if (text === stringifyJson(old.data ?? null)) return errors;
    const message = `Invalid value: ${text}: field is immutable`;
    return [...errors, { reason: "FieldValueInvalid", field: "data", message }];
  },
};
