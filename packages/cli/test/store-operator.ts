import { Secret, StatefulSet } from "@konverge/kinds";
import { controller, operator, ownedKind } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";

/** A kind whose workloads a new version of its operator can damage. */
export const Store = defineKind({
  group: "test.example.com",
  kind: "Store",
  versions: {
    v1: {
      spec: z.object({ size: z.int().default(1), password: z.string().optional() }),
      status: z.object({ phase: z.string().optional(), ready: z.int().optional() }),
    },
  },
});

/** What a version does differently. */
export interface StoreVersion {
  /** A label of the selector, which cannot change: the StatefulSet is replaced. */
  readonly tier?: string;
  /** A new default in the pod template: all pods restart. */
  readonly mode?: string;
  /** The status goes back and forth. */
  readonly oscillates?: boolean;
}

/** A version of an operator with a StatefulSet and a Secret for each Store. */
export function storeOperatorOf({ tier, mode, oscillates = false }: StoreVersion = {}) {
  return operator({
    name: "store-operator",
    description: "Keeps stores.",
    kinds: [Store],
    create: () => ({
      controllers: [
        controller(Store, {
          owns: [ownedKind(StatefulSet, { onImmutable: "recreate" }), Secret],
          reconcile: ({ metadata: { name }, spec, status }, { observed }) => {
            const labels = { store: name, ...(tier !== undefined && { tier }) };
            const env = [
              { name: "PASSWORD", valueFrom: { secretKeyRef: { name, key: "password" } } },
              ...(mode === undefined ? [] : [{ name: "MODE", value: mode }]),
            ];
            const set = StatefulSet.draft({
              metadata: { name },
              spec: {
                replicas: spec.size,
                serviceName: name,
                selector: { matchLabels: labels },
                template: {
                  metadata: { labels },
                  spec: { containers: [{ name: "store", image: "example.com/store", env }] },
                },
              },
            });
            const secret = Secret.draft({ metadata: { name }, stringData: { password: spec.password ?? "changeme" } });
            const phase = oscillates && status?.phase === "Serving" ? "Checking" : "Serving";
            return {
              children: [set, secret],
              status: { phase, ready: observed(set)?.status?.readyReplicas ?? 0 },
              ...(oscillates && { requeueAfter: 10_000 }),
            };
          },
        }),
      ],
    }),
  });
}

/** The version that runs. */
export const storeOperator = storeOperatorOf();
