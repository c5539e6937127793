/**
 * Who owns which field: server-side apply as the API server does it.
 *
 * A {@link FieldManager} keeps `metadata.managedFields` of a kind's objects as they are written through one endpoint.
 * Every write but apply goes through `update`: it compares the new object with the live one, gives the fields that
 * changed to the manager that wrote them and takes them from all others. An `apply` merges a partial object into the
 * live one, refuses to change what others own (unless forced), and takes away what the same manager applied before,
 * does not apply now, and no other manager owns.
 *
 * ```ts
 * const fields = new FieldManager({ kind, schema, clock, resetFields: { "apps/v1": excludeFields(["f:status"]) } });
 * const stored = fields.update(live, next, "kubectl-edit");
 * const applied = fields.apply(stored, configuration, "my-operator", { force: true });
 * ```
 *
 * Underneath: a {@link FieldSet} is the JSON of `fieldsV1` itself, never changed, with set operations on it ({@link
 * fieldSet}). The schema of the kind says what can be owned separately: items of lists that are sets or maps by keys,
 * entries of maps, fields of structs. Everything here is pure, and shares with its input what it does not change: parts
 * that are the same JavaScript object before and after a write cost nothing.
 *
 * The judge is the API server's own library: `test/generated/structured-merge/` holds sequences of writes with its
 * answers.
 */
export { type AsyncConvert, withAsyncConversion } from "./structured-merge/async-conversion.ts";
export { decodeFieldSet } from "./structured-merge/decode-fields.ts";
export { excludeFields } from "./structured-merge/field-filter.ts";
export { FieldManager, type FieldManagerOptions } from "./structured-merge/field-manager.ts";
export type { FieldSet } from "./structured-merge/field-set.ts";
export * as fieldSet from "./structured-merge/field-set.ts";
export { LAST_APPLIED } from "./structured-merge/last-applied.ts";
export { managerNameOf } from "./structured-merge/manager-name.ts";
export { managedFieldsProblem } from "./structured-merge/managers.ts";
export { keepTimesOfNoop } from "./structured-merge/noop-times.ts";
export type { FieldPath } from "./structured-merge/path-element.ts";
export { pathText } from "./structured-merge/path-element.ts";
export { parentManagedFields, type ReplicasPaths, scaleManagedFields } from "./structured-merge/scale-fields.ts";
export { takeOver } from "./structured-merge/take-over.ts";
export type { FieldFilter, KindVersion } from "./structured-merge/updater.ts";
