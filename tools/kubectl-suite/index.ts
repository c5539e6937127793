/**
 * What people see who use kubectl, compared: the same commands on a real control plane and on the embedded one.
 *
 * A {@link Story} is a list of {@link Step}s in a namespace of its own. Each step runs on both servers with the same
 * kubectl; what it prints and how it exits is made comparable ({@link normalise} masks only what differs between two runs
 * on a real server) and must then be the same to the letter. Each step is a test of its own.
 *
 * `objects.real.test.ts` plays the stories that need an API server alone, `workloads.real.test.ts` those in which
 * controllers, a scheduler and nodes are at work.
 */
export { normalise } from "./normalise.ts";
export { play } from "./play.ts";
export { embeddedCluster, embeddedServer, realServer, type Server } from "./servers.ts";
export { kubectl, type Output, type Session, type Step, type Story, story } from "./story.ts";
