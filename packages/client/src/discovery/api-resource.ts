import type { KindRef } from "@konverge/core";

/** A kind that a server serves, with its verbs. */
export interface ApiResource extends KindRef {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** `status`, `scale` … with their verbs. */
  readonly subresources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** The APIs that a server serves. */
export interface DiscoveredApis {
  /** Groups in the server's order of preference; within a group, its preferred version comes first. */
  readonly resources: readonly ApiResource[];
  /** Group versions whose API server is not available, and why. */
  readonly unavailable: readonly { readonly group: string; readonly version: string; readonly why: string }[];
}
