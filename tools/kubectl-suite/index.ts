/**
 * Compares the output of kubectl: the same commands on a real control plane and on the embedded one.
 *
 * A {@link Story} is a list of {@link Step}s in a separate namespace. Each step runs on both servers with the same kubectl;
 * its output and exit code are normalized ({@link normalize} masks only what differs between two runs on a real server) and
 * must then be identical. Each step is a separate test.
 *
 * `objects.real.test.ts` runs the stories that need only an API server, `workloads.real.test.ts` those with controllers, a
 * scheduler and nodes.
 */
export { normalize } from "./normalize.ts";
export { play } from "./play.ts";
export { embeddedCluster, embeddedServer, realServer, type Server } from "./servers.ts";
export { kubectl, type Output, type Session, type Step, type Story, story } from "./story.ts";
