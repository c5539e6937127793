/**
 * Databases: a primary with its standbys, their volumes, credentials and Services, and backups if asked for.
 *
 * {@link Database} says which version, how large and how many; pure functions make the children of it, and
 * {@link databases} keeps them. Who leads is decided by {@link nextStep}, a function of what is known of pods and of what
 * servers say about themselves; it is written into a ConfigMap, the {@link Topology}, which a script in each pod follows
 * (`scripts/server.sh`). Servers are asked by running another script in their pods (`scripts/status.sh`).
 *
 * It promises that there are never two servers that acknowledge writes, that nothing acknowledged is lost unless that was
 * allowed, and that volumes never shrink. Passwords live in a Secret alone.
 */
export * from "./backup.ts";
export * from "./credentials.ts";
export * from "./database.ts";
export * from "./database-admission.ts";
export * from "./database-children.ts";
export * from "./database-controller.ts";
export * from "./engines.ts";
export * from "./leadership.ts";
export * from "./operator.ts";
export * from "./quorum.ts";
export * from "./rollout.ts";
export * from "./scripts.ts";
export * from "./server-pod.ts";
export * from "./server-report.ts";
export * from "./storage.ts";
export * from "./topology.ts";
export * from "./version.ts";
