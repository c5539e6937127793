/** When something is to be done again. All times are in milliseconds. */
export interface Recurrence {
  /** This long after it was last done. */
  every: number;
  /** Only after the object's spec, labels and annotations have not changed for this long. Default: 0. */
  idle?: number;
  /** How long after the object was first seen it is done for the first time. Default: 0. */
  first?: number;
  /**
   * When it was last done, as you keep it in the status: then the rhythm outlives restarts and hand-overs. Default: as
   * this process remembers.
   */
  last?: string | undefined;
}
