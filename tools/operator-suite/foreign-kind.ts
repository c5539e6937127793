import type { KindRef, KubeObject } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

/** Installs a namespaced kind of other software, as far as an operator needs it: objects may have any fields. */
export async function installForeignKind<T extends KubeObject>(
  stage: TestEnvironment,
  kind: KindRef<T>,
): Promise<void> {
  const definition = foreignDefinition(kind);
  await stage.apply(definition);
  const { name } = definition.metadata;
  await stage.until(`${name} are served`, async () => {
    const { status } = await stage.client.get(CustomResourceDefinition, name);
    return status?.conditions?.some((one) => one.type === "Established" && one.status === "True") ?? false;
  });
}

/** The CustomResourceDefinition of such a kind. */
export function foreignDefinition<T extends KubeObject>(kind: KindRef<T>) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      // The API server accepts groups under k8s.io only with this annotation.
      annotations: { "api-approved.kubernetes.io": "unapproved, a test" },
    },
    spec: {
      group: kind.group,
      names: { kind: kind.kind, plural: kind.plural },
      scope: "Namespaced",
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as const;
}
