import { type OperatorParts, type RbacObject, rolesFor } from "@konverge/runtime";

const ALL = ["get", "list", "watch", "create", "update", "patch", "delete"];

/**
 * The roles that scaffolded operators usually have: every verb on their own kinds and on their children, whether it is used
 * or not. For those who extend an operator by hand; {@link rolesFor} of what is declared is enough to run it.
 */
export function classicRoles(
  name: string,
  { controllers }: OperatorParts,
  serviceAccount: { name: string; namespace: string },
  namespaced?: readonly string[],
): RbacObject[] {
  const accesses = controllers.flatMap(({ kind, owns, options }) => {
    const { group, plural } = kind;
    // What their code makes by itself is as much theirs as what they declare as children.
    const made = (options.permissions ?? []).filter(
      ({ verbs, subresource }) => !subresource && verbs.includes("create"),
    );
    const places = namespaced?.map((namespace) => ({ namespace })) ?? [{}];
    const on = (verbs: readonly string[], resource: string, of = group) =>
      places.flatMap((place) => verbs.map((verb) => ({ verb, group: of, resource, ...place })));
    return [
      ...on(ALL, plural),
      ...on(["get", "update", "patch"], `${plural}/status`),
      ...on(["update"], `${plural}/finalizers`),
      ...[...owns, ...made]
        .filter((owned) => !namespaced || owned.kind.namespaced)
        .flatMap((owned) => on(ALL, owned.kind.plural, owned.kind.group)),
      ...on(["create", "patch"], "events", ""),
    ];
  });
  return rolesFor(accesses, { name: `${name}-classic`, serviceAccount });
}
