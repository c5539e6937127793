/**
 * Why pods do not come to run, and how users are told.
 *
 * An owner of pods learns only that fewer are ready than it asked for; the cause stands in the pods, or with whoever was
 * refused them. {@link podProblem} reads one pod, {@link problemOf} all pods of an object together with what refuses more of
 * them ({@link refusalIn} a Deployment, {@link refusalTold} of a StatefulSet, {@link creationProblem} of one's own request).
 * {@link tellProblem} says it in an event, once, and {@link problemConditions} in conditions, for as long as it lasts.
 *
 * Reasons and messages stay the same from look to look as long as the cause does: what a node adds about its tries and waits
 * is left out, so that telling a problem writes nothing while nothing changes. Want of room counts only when it lasts
 * ({@link PATIENCE}); nobody tells when that time is over, so whoever waits for pods looks again after it.
 */
export { type PodProblem, type PodProblemReason, podProblem } from "./pod-problem.ts";
export { PATIENCE, type Problem, problemOf, type Replicas } from "./problem.ts";
export { creationProblem, refusalIn, refusalTold } from "./refusal.ts";
export { problemConditions, tellProblem } from "./tell-problem.ts";
