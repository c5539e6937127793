/** How often something is done. All times are in milliseconds. */
export interface Recurrence {
  /** The interval. */
  every: number;
  /** Only after the object's spec, labels and annotations have not changed for this long. Default: 0. */
  idle?: number;
  /** The delay before the first time. Default: 0. */
  first?: number;
  /**
   * When it was last done, for example from the status, so that the interval continues after a restart or in another
   * replica. Default: the process remembers it.
   */
  last?: string | undefined;
}
