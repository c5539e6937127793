/**
 * What everything else stands on: objects and their metadata, kinds, errors, time. Pure: no I/O, no dependency.
 *
 * A {@link KindRef} names a kind and carries the type of its objects; a {@link Transport} carries requests to the one that
 * answers them; a {@link Clock} is the only source of time, turns and chance; an {@link ApiError} is what a server says
 * when it will not. The other packages speak to each other in these terms alone.
 *
 * The values that objects are made of are here as well, read and written as Kubernetes reads and writes them: quantities,
 * durations, selectors, names, JSONPath, conditions, owner references. Where its Go libraries have an oddity that a server
 * would show, so have these, and their messages are word for word the same (docs/decisions/004-values-and-encodings.md).
 *
 * Two questions about whole objects are answered here: is it ready ({@link readinessOf}), and is it newer
 * ({@link compareVersions}).
 */
export * from "./adjustable-clock.ts";
export * from "./append.ts";
export * from "./backoff.ts";
export * from "./clock.ts";
export * from "./conditions.ts";
export * from "./copy.ts";
export * from "./drained.ts";
export * from "./duration.ts";
export * from "./equality.ts";
export type * from "./exact.ts";
export * from "./field-selector.ts";
export * from "./file-names.ts";
export * from "./freeze.ts";
export * from "./go-text.ts";
export * from "./go-url.ts";
export * from "./int-or-string.ts";
export * from "./ip-address.ts";
export * from "./json.ts";
export * from "./json-object.ts";
export * from "./json-path.ts";
export { JsonPathError } from "./json-path-parser.ts";
export * from "./kind-ref.ts";
export * from "./label-selector.ts";
export * from "./label-selector-parser.ts";
export * from "./long-integer.ts";
export * from "./made-by-kind.ts";
export * from "./names.ts";
export * from "./naming-rules.ts";
export * from "./object.ts";
export * from "./own.ts";
export * from "./owner-references.ts";
export * from "./quantity.ts";
export * from "./quoted.ts";
export * from "./random.ts";
export * from "./readiness.ts";
export * from "./resource-path.ts";
export * from "./resource-version.ts";
export * from "./schedule.ts";
export * from "./schema-node.ts";
export * from "./secrets.ts";
export * from "./simple-json-path.ts";
export * from "./spdy.ts";
export * from "./status-error.ts";
export { type LocalTime, type TimeZone, timeZone } from "./time-zone.ts";
export * from "./token-bucket.ts";
export * from "./transport.ts";
export * from "./underlying-clock.ts";
export * from "./virtual-clock.ts";
