import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import type { Database } from "./database.ts";
import { isReplica } from "./replica-source.ts";

/**
 * Whether a standby that may lack the last commits can be promoted. Who asks for two standbys and for no confirmation by them expects
 * that one of them takes the primary's place unattended.
 */
export function allowsDataLoss({ spec }: Pick<Database, "spec">): boolean {
  return spec.failover?.allowDataLoss ?? (spec.instances >= 3 && spec.synchronous === 0);
}

/** Standbys alone do not make a database fail over: what that can lose is reported. */
export function failoverCondition(database: Database): Conditions {
  const { instances, synchronous } = database.spec;
  if (instances < 2) return { AutomaticFailover: undefined };
  if (isReplica(database)) {
    const message = "no server takes writes: any standby can receive from the source in place of the primary";
    return { AutomaticFailover: conditionTrue("Following", message) };
  }
  if (synchronous > 0) {
    const message = "a standby that has every acknowledged commit replaces a primary that is lost";
    return { AutomaticFailover: conditionTrue("SynchronousStandbys", message) };
  }
  if (allowsDataLoss(database)) {
    const message =
      "the standby that is furthest ahead replaces a primary that is lost; commits that it had not received are lost, as many as it was " +
      "behind: to lose none, set spec.synchronous to 1 or more";
    return { AutomaticFailover: conditionTrue("DataLossAllowed", message) };
  }
  const message =
    "no standby replaces a primary that is lost, since none is known to have every acknowledged commit: set " +
    "spec.synchronous to 1 or more, or spec.failover.allowDataLoss";
  return { AutomaticFailover: conditionFalse("NoSynchronousStandby", message) };
}
