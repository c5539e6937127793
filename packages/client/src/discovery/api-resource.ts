import type { KindRef } from "@konverge/core";

/** A kind that a server serves, and what can be done with it. */
export interface ApiResource extends KindRef {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** `status`, `scale` … with their verbs. */
  readonly subresources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** What a server serves. */
export interface DiscoveredApis {
  /** Groups in the server's order of preference; within a group, its preferred version comes first. */
  readonly resources: readonly ApiResource[];
  /** Group versions that exist but could not be read now (their server is away), and why. */
  readonly unavailable: readonly { readonly group: string; readonly version: string; readonly why: string }[];
}
