/**
 * The Kubernetes API as typed verbs.
 *
 * A {@link Client} turns verbs into requests for a `Transport` and its answers into objects or typed errors. The transport
 * decides who answers: a server behind a socket, or the embedded server in the same process, without a port.
 *
 * What it promises: a call settles by its deadline; it rejects with an ApiError (the server said no) or a
 * {@link TransportError} (no answer, and whether a write is in doubt) and nothing else; a {@link Watch} never dies
 * silently and never loses a deletion.
 */
export * from "./client.ts";
export * from "./errors.ts";
export * from "./options.ts";
export * from "./patch.ts";
export { metadataOnly } from "./representation.ts";
export * from "./watch/watch.ts";
