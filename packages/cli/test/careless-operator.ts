import { Deployment, StatefulSet } from "@konverge/kinds";
import { controller, operator, type ReconcileContext } from "@konverge/runtime";
import { defineKind, type ObjectOf, z } from "@konverge/schema";

const which = z.enum([
  "forgotten await",
  "blocked event loop",
  "undeclared permission",
  "missing owns",
  "loop in the status",
  "loop in a child",
  "two operators",
  "never ready",
]);

/** A kind whose objects say which mistake the operator makes with them. */
export const Mistake = defineKind({
  group: "test.example.com",
  kind: "Mistake",
  versions: { v1: { spec: z.object({ which }), status: z.object({ text: z.string().optional() }) } },
});
export type Mistake = ObjectOf<typeof Mistake>;

/** The same, of an operator that owns something: only then it is expected to return children. */
export const OwningMistake = defineKind({
  group: "test.example.com",
  kind: "OwningMistake",
  versions: { v1: { spec: z.object({ which }), status: z.object({ text: z.string().optional() }) } },
});

/** The same, of two operators. */
export const SharedMistake = defineKind({
  group: "test.example.com",
  kind: "SharedMistake",
  versions: { v1: { spec: z.object({ which }), status: z.object({ text: z.string().optional() }) } },
});

async function forgotten(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error("the disk is full");
}

let count = 0;

async function reconcile({ metadata: { name }, spec }: Mistake, { client }: ReconcileContext) {
  switch (spec.which) {
    case "forgotten await":
      void forgotten();
      return {};
    case "blocked event loop":
      for (const start = performance.now(); performance.now() - start < 2_500; );
      return {};
    case "undeclared permission":
      return { status: { text: `${(await client.list(StatefulSet)).items.length}` } };
    case "missing owns":
      return { children: [Deployment.draft({ metadata: { name }, spec: deploymentSpec }) as never] };
    case "loop in the status":
      // Without the next reconcile it would be written once: what an operator writes itself causes no reconcile.
      return { status: { text: `${++count}` }, requeueAfter: 10 };
    default:
      return {};
  }
}

const labels = { app: "w" };
const deploymentSpec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } },
};

/** Makes the mistakes that `which` names. */
export const carelessOperator = operator({
  name: "careless-operator",
  description: "Makes mistakes.",
  kinds: [Mistake, OwningMistake, SharedMistake],
  create: () => ({
    controllers: [
      controller(Mistake, { reconcile }),
      controller(SharedMistake, { reconcile: () => ({ status: { text: "mine" } }) }),
      controller(OwningMistake, {
        owns: [Deployment],
        reconcile: ({ metadata: { name }, spec }) =>
          spec.which === "never ready"
            ? { status: { text: "it is there" } }
            : {
                children: [
                  Deployment.draft({ metadata: { name, annotations: { at: `${++count}` } }, spec: deploymentSpec }),
                ],
              },
      }),
    ],
  }),
});

/** Sets a field that the other operator sets, too. */
export const meddlingOperator = operator({
  name: "meddling-operator",
  description: "Sets the status of another operator's objects.",
  kinds: [SharedMistake],
  create: () => ({
    controllers: [controller(SharedMistake, { name: "meddling", reconcile: () => ({ status: { text: "yours" } }) })],
  }),
});
