import type { AnyObject, ApiRequest, ApiResponse } from "@konverge/core";
import type { User } from "./auth/user.ts";
import type { Call } from "./call/call.ts";
import type { WorkingObject } from "./codec/working-object.ts";
import type { RequestInfo } from "./http/request-info.ts";

/** Answers requests that are not about objects (discovery, OpenAPI, health, metrics); undefined when it is not its path. */
export type PathHandler = (
  request: ApiRequest,
  info: RequestInfo,
  user: User,
) => ApiResponse | undefined | Promise<ApiResponse | undefined>;

/**
 * Checks an object that is created but never stored, a review, as decoded, with its defaults and what mutating admission made of
 * it. Returns what answers it once validating admission has let it pass.
 */
export type ReviewHandler = (call: Call, review: WorkingObject) => () => AnyObject;

/** Answers every verb on a subresource whose bodies are of another kind than its resource. */
export type SubresourceHandler = (call: Call) => ApiResponse | Promise<ApiResponse>;

/** What is plugged into the server beyond the verbs that all resources share. */
export interface Extensions {
  readonly paths: readonly PathHandler[];
  /** By group and plural: `authorization.k8s.io/selfsubjectaccessreviews`. */
  readonly reviews: Readonly<Record<string, ReviewHandler>>;
  /**
   * By group, plural and subresource: `/pods/eviction`. `*` stands for every resource that has one of that name; with an
   * empty subresource (`/bindings/`) for creates of what is acted on and never stored.
   */
  readonly subresources: Readonly<Record<string, SubresourceHandler>>;
}
