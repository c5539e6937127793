/**
 * Who owns which field: server-side apply.
 */
export { excludeFields, includeFields } from "./field-filter.ts";
export { FieldManager, type FieldManagerOptions } from "./field-manager.ts";
export * as fieldSet from "./field-set.ts";
export type { FieldFilter, KindVersion } from "./updater.ts";
