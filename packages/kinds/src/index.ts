/**
 * The kinds that Kubernetes brings along.
 *
 * Importing this costs a few hundred small objects: a handle such as {@link Deployment} is a name and a place in the REST
 * tree, and carries the type of its objects for the compiler. The facts (fields, defaults, merge keys, protobuf
 * numbers, columns) are data files, one per group-version, that {@link builtinSchema}, {@link builtinResources} and
 * {@link definition} read when they are first asked about one.
 *
 * Each kind and type is here once, in its preferred version; others have separate modules, such as
 * `autoscaling.v1` and `events.v1`. All of it is generated from a real API server and from Kubernetes' Go types by
 * `npm run facts`.
 *
 * ```ts
 * const web = Deployment.draft({ metadata: { name: "web" }, spec });
 * await client.create(Deployment, web);
 * ```
 */
export * from "./builtin-schema.ts";
export type * from "./fact-types.ts";
export {
  type BuiltinColumn,
  type BuiltinResource,
  type BuiltinSubresource,
  builtinResources,
  definition,
  definitionNames,
  definitionOf,
  KUBERNETES_MINORS,
  KubernetesFacts,
  kubernetesFacts,
  kubernetesVersion,
} from "./facts.ts";
export * from "./generated/preferred.ts";
export { openApiSchema } from "./openapi.ts";
export { TypedKind } from "./typed-kind.ts";
