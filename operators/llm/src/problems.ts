/**
 * What keeps replicas from coming up, and how that is told: for every operator of servers.
 *
 * {@link problemOf} reads it from pods and from what refuses them; {@link tellProblem} says it in an event, once, and
 * {@link problemConditions} for as long as it lasts.
 */
export * from "./problem-conditions.ts";
export * from "./replica-problems.ts";
