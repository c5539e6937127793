/**
 * Databases: a server, its volume, its credentials, its Service, and backups if asked for.
 *
 * {@link Database} says which version and how large; pure functions make the children of it, {@link databases} keeps them,
 * lets volumes grow (never shrink), and tells in the status how the server is doing. Passwords are made once and live in a
 * Secret alone.
 */
export * from "./backup.ts";
export * from "./database.ts";
export * from "./database-admission.ts";
export * from "./database-children.ts";
export * from "./database-controller.ts";
export * from "./engines.ts";
export * from "./operator.ts";
export * from "./scripts.ts";
export * from "./storage.ts";
