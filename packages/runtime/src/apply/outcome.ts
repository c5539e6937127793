import { ApiError, isForbidden, type KubeObject } from "@konverge/core";
import { ExternalError } from "../errors.ts";
import type { Child } from "./child.ts";

/** A child that cannot be stored: a quota, an admission webhook or validation forbids it, or its name is taken. */
export interface RefusedChild {
  /** The child as it was returned. */
  readonly child: Child;
  /** The reason of the API server's response, such as `Forbidden` and `Invalid`, or `ChildExists`, `ChildOfAnother`. */
  readonly reason: string;
  readonly message: string;
  readonly error: ApiError | ExternalError;
}

/** What applying the children of an object has changed, and what the API server has refused. */
export interface ChildrenOutcome {
  /** In the order of their creation. */
  readonly created: readonly KubeObject[];
  /** Children that were deleted because they are no longer returned, as they were before. */
  readonly deleted: readonly KubeObject[];
  /** Only those with `onRefused: "report"`: any other refusal fails the reconcile. */
  readonly refused: readonly RefusedChild[];
}

/** A quota can be freed, and rules can change; no event tells. */
const FORBIDDEN_RETRY = 30_000;
const INVALID_RETRY = 5 * 60_000;

/** Collects the outcome. */
export class CollectedOutcome implements ChildrenOutcome {
  readonly created: KubeObject[] = [];
  readonly deleted: KubeObject[] = [];
  readonly refused: RefusedChild[] = [];

  /** Milliseconds until a refused child is tried again; undefined if there is none. */
  get retryAfter(): number | undefined {
    if (this.refused.length === 0) return undefined;
    return Math.min(...this.refused.map(({ error }) => retryOf(error)));
  }
}

function retryOf(error: ApiError | ExternalError): number {
  if (error instanceof ExternalError) return error.requeueAfter;
  return isForbidden(error) ? FORBIDDEN_RETRY : INVALID_RETRY;
}

/** The codes of refusals that depend on the object alone, or on what is configured about it. */
const INVALID = new Set([400, 413, 422]);

/** The reasons of children whose names are taken. */
const TAKEN = new Set(["ChildExists", "ChildOfAnother", "ChildReplaced", "ChildTerminating"]);

/** Whether a child is refused for what it is or is called, rather than the controller for what it may do. */
export function isRefusal(error: unknown): error is ApiError | ExternalError {
  if (error instanceof ExternalError) return TAKEN.has(error.reason);
  if (!(error instanceof ApiError)) return false;
  if (INVALID.has(error.code)) return true;
  const isTerminating = error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
  return isForbidden(error) && !isTerminating && !/ cannot \w+ resource /.test(error.message);
}

/** A creation that a quota or a rule forbids now: reported at once, and tried again. */
export function refusedCreation(name: string, error: unknown): unknown {
  if (!(error instanceof ApiError) || !isRefusal(error) || !isForbidden(error)) return error;
  const message = `${name} cannot be created: ${error.message}`;
  return new ExternalError("ChildRefused", message, { cause: error, requeueAfter: FORBIDDEN_RETRY });
}
