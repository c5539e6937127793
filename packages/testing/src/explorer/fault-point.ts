/**
 * A moment of a run at which a fault can happen, named so that it can be found again in another run of the same scenario:
 * the Nth time that the operator sends this request, receives this event, or the user makes this write.
 */
export interface FaultPoint {
  /**
   * `request`: before a request of the operator is sent. `event`: before a watch event is delivered to the operator. `user`:
   * before a write of the scenario. `external`: at a call of an external system. `end`: when the scenario has ended and the cluster is idle.
   */
  readonly on: "request" | "event" | "user" | "external" | "end";
  /** `create configmaps/web`, `watch pods`, `MODIFIED widgets/w`; empty at the end. Generated names end in `*`. */
  readonly what: string;
  /** Counted from 1 among those with the same `on` and `what`. */
  readonly nth: number;
}
