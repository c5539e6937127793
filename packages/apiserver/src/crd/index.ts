/**
 * Custom resources: what a CustomResourceDefinition makes of the server.
 *
 * A CRD is an object like any other, stored by the ordinary verbs under a strategy of its own ({@link crdStrategy}), which
 * judges it: names, versions, structural schemas, rules in CEL and their cost, conversion. {@link CustomResources} follows
 * the stored ones. It grants names (the first to ask has them), says in conditions what it did, puts a resource definition
 * for each into the registry and takes it out again; deletion waits until the instances are gone.
 *
 * From then on instances are served by the same verbs as built-in kinds. What differs is in their codec (pruned by the
 * schema, keys by the alphabet), in their strategy (judged by the schema and its rules, leniently where an update leaves
 * alone what was wrong before) and in conversion, which asks a webhook where the CRD names one.
 *
 * Promises: what follows from a write to a CRD has happened when its answer goes out, so that the next request finds the
 * resource; objects stored under an older schema are read by today's; a webhook cannot change an object's identity.
 */
export { CustomResources } from "./custom-resources.ts";
export { crdStrategy } from "./strategy.ts";
