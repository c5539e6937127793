import {
  append,
  badRequest,
  DurationError,
  exceeds64Bits,
  type FieldError,
  invalid,
  parseDuration,
} from "@konverge/core";
import { fieldManagerErrors, forbidden, invalidValue, notSupported, required } from "@konverge/schema";

/** Query parameters are true when they are present, unless they say false or 0. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A parameter that must be a whole number; undefined when it is missing. */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = exceeds64Bits(text) ? undefined : BigInt(text);
  if (value === undefined || value !== BigInt.asIntN(64, value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return Number(value);
}

function booleanParameter(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : isTrue(text);
}

/** Throws 400 for a `timeout` that is none. How long requests may take is otherwise not limited here. */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get("timeout");
  if (!text) return;
  try {
    parseDuration(text);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}

/** How a write treats fields that it does not know. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What creates, updates and patches may ask for. */
export interface WriteParameters {
  readonly dryRun: boolean;
  /** Empty when it is not given. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Apply only. */
  readonly force: boolean;
}

const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];

/** Reads the parameters of a write; `apply` of a patch says whether it is a server-side apply. */
export function writeParameters(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  { apply = false } = {},
): WriteParameters {
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const force = booleanParameter(query, "force");
  const errors: FieldError[] = [];
  if (kind === "PatchOptions") {
    if (apply && fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
    if (!apply && force !== undefined) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  }
  append(errors, fieldManagerErrors(fieldManager, "fieldManager"));
  append(errors, dryRunErrors(dryRun));
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) {
    errors.push(notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS));
  }
  refuse(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || "Warn") as FieldValidation,
    force: force ?? false,
  };
}

/** The body of a delete request, or the same as parameters. */
export interface DeleteOptions {
  gracePeriodSeconds?: number;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

/** Reads the options of a delete from its parameters. */
export function deleteParameters(query: URLSearchParams): DeleteOptions {
  const gracePeriodSeconds = integerParameter(query, "gracePeriodSeconds");
  const orphanDependents = booleanParameter(query, "orphanDependents");
  const propagationPolicy = query.get("propagationPolicy");
  const uid = query.get("uid");
  const resourceVersion = query.get("resourceVersion");
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== null && { propagationPolicy }),
    ...((uid || resourceVersion) && {
      preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    }),
    ...(query.has("dryRun") && { dryRun: query.getAll("dryRun") }),
  };
}

const PROPAGATION_POLICIES = ["Foreground", "Background", "Orphan", "nil"];

/** Throws what a server answers to options that contradict themselves. */
export function checkDeleteOptions({ orphanDependents, propagationPolicy, dryRun = [] }: DeleteOptions): void {
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(invalidValue("propagationPolicy", propagationPolicy, detail));
  }
  if (propagationPolicy !== undefined && !PROPAGATION_POLICIES.slice(0, 3).includes(propagationPolicy)) {
    errors.push(notSupported("propagationPolicy", propagationPolicy, PROPAGATION_POLICIES));
  }
  append(errors, dryRunErrors(dryRun));
  refuse("DeleteOptions", errors);
}

function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === "All") ? [] : [notSupported("dryRun", values, ["All"])];
}

/** What lists and watches may ask for. Selectors are read elsewhere. */
export interface ListParameters {
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** Reads the parameters of a list or a watch, and checks that they go together. */
export function listParameters(query: URLSearchParams, watch: boolean): ListParameters {
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  const given: ListParameters = {
    limit: integerParameter(query, "limit") ?? 0,
    continue: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds,
    allowWatchBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: booleanParameter(query, "sendInitialEvents"),
  };
  const isLegacyWatch = isTrue(query.get("watch")) && ["", "0"].includes(given.resourceVersion);
  const isBare = given.sendInitialEvents === undefined && given.resourceVersionMatch === "";
  const parameters: ListParameters =
    isLegacyWatch && isBare ? { ...given, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } : given;
  refuse("ListOptions", watch && isTrue(query.get("watch")) ? watchErrors(parameters) : listErrors(parameters));
  return parameters;
}

const MATCH = "resourceVersionMatch";

function listErrors({ resourceVersionMatch: match, resourceVersion, continue: token, ...rest }: ListParameters) {
  const errors: FieldError[] = [];
  if (match !== "") {
    if (resourceVersion === "") {
      errors.push(forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
    }
    if (token !== "") errors.push(forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && resourceVersion === "0") {
      errors.push(forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (rest.sendInitialEvents !== undefined) {
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function watchErrors({ resourceVersionMatch: match, sendInitialEvents, continue: token }: ListParameters) {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (match !== "") {
    if (sendInitialEvents === undefined) {
      errors.push(forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
    }
    if (match !== "NotOlderThan") errors.push(notSupported(MATCH, match, ["NotOlderThan"]));
    if (token !== "") errors.push(forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
  }
  return errors;
}

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", errors);
}
