import { ConfigMap, Deployment, Secret } from "@konverge/kinds";
import { controller, type Operator, operator, permission } from "@konverge/runtime";
import { defineKind, type ObjectOf, z } from "@konverge/schema";
import type { Scenario } from "@konverge/testing";

/** A kind of the tests. */
export const Widget = defineKind({
  group: "example.com",
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({ text: z.string().default("") }),
      status: z.object({ text: z.string().optional(), phase: z.string().optional() }),
    },
  },
});
export type Widget = ObjectOf<typeof Widget>;

const map = (name: string, text: string) => ConfigMap.draft({ metadata: { name }, data: { text } });

/** Keeps two ConfigMaps for each Widget. */
export const sound: Operator = operator({
  name: "widget-operator",
  description: "Keeps ConfigMaps.",
  kinds: [Widget],
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [ConfigMap],
        reconcile: ({ metadata: { name }, spec }) => ({
          children: [map(`${name}-a`, spec.text), map(`${name}-b`, spec.text)],
          status: { text: spec.text },
        }),
      }),
    ],
  }),
});

/** Makes the second ConfigMap only if it made the first one in the same life: progress that a crash loses. */
export const forgetful: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        permissions: [permission(ConfigMap, ["get", "create"])],
        async reconcile({ metadata: { name, namespace }, spec }, { client }) {
          const exists = await client.get(ConfigMap, `${namespace}/${name}-a`).then(
            () => true,
            () => false,
          );
          if (exists) return { status: { text: spec.text } };
          for (const suffix of ["a", "b"]) {
            await client.create(ConfigMap, { metadata: { name: `${name}-${suffix}`, namespace }, data: {} });
          }
          return { status: { text: spec.text } };
        },
      }),
    ],
  }),
});

/** Declares more than it needs. */
export const greedy: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [ConfigMap],
        permissions: [permission(Secret, ["list"])],
        reconcile: ({ metadata: { name }, spec }) => ({
          children: [map(`${name}-a`, spec.text)],
          status: { text: "" },
        }),
      }),
    ],
  }),
});

/** Does more than it declares. */
export const sneaky: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        async reconcile({ metadata, spec }, { client }) {
          const secrets = await client.list(Secret, { namespace: metadata.namespace }).catch(() => undefined);
          return { status: { text: secrets ? "found" : spec.text } };
        },
      }),
    ],
  }),
});

/** Keeps its ConfigMaps without saying whose they are. */
export const careless: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        permissions: [permission(ConfigMap, ["create", "patch"])],
        async reconcile({ metadata: { name, namespace }, spec }, { client }) {
          const draft = map(`${name}-a`, spec.text);
          await client.apply(ConfigMap, { ...draft, metadata: { ...draft.metadata, namespace } } as never, {
            fieldManager: "careless",
          });
          return { status: { text: spec.text } };
        },
      }),
    ],
  }),
});

/** Takes a failure for a decision: what could not be read once is not wanted. */
export const timid: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [ConfigMap],
        permissions: [permission(Secret, ["list"])],
        async reconcile({ metadata: { name, namespace }, spec, status }, { client }) {
          if (status?.text !== undefined) return {};
          const secrets = await client.list(Secret, { namespace }).catch(() => undefined);
          return { children: secrets ? [map(`${name}-a`, spec.text)] : [], status: { text: spec.text } };
        },
      }),
    ],
  }),
});

/** Looks at Secrets twice a minute, and reports when it cannot. */
export const polling: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        permissions: [permission(Secret, ["list"])],
        async reconcile({ metadata: { namespace } }, { client }) {
          const secrets = await client.list(Secret, { namespace }).catch(() => undefined);
          return { status: { text: secrets ? "found" : "unknown" }, requeueAfter: 29_000 };
        },
      }),
    ],
  }),
});

/** Repairs its ConfigMap, but never forgets in its status that it had to. */
export const resentful: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [ConfigMap],
        reconcile({ metadata: { name }, spec, status }, { observed }) {
          const found = observed(ConfigMap, `${name}-a`);
          const isEdited = found !== undefined && found.data?.["text"] !== spec.text;
          const text = isEdited || status?.text === "edited" ? "edited" : spec.text;
          return { children: [map(`${name}-a`, spec.text), map(`${name}-b`, spec.text)], status: { text } };
        },
      }),
    ],
  }),
});

/** Does nothing but fail. */
export const failing: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        reconcile() {
          throw new Error("the disk is full");
        },
      }),
    ],
  }),
});

/** Reports what its Deployment does, whose image does not exist: minutes later its progress deadline passes. */
export const reporting: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [Deployment],
        reconcile({ metadata: { name } }, { observed }) {
          const labels = { app: name };
          const containers = [{ name: "main", image: "example.com/none:1" }];
          const template = { metadata: { labels }, spec: { containers } };
          const spec = { progressDeadlineSeconds: 300, selector: { matchLabels: labels }, template };
          const conditions = observed(Deployment, name)?.status?.conditions ?? [];
          const text = conditions.find(({ type }) => type === "Progressing")?.reason;
          return { children: [Deployment.draft({ metadata: { name }, spec })], status: { text: text ?? "" } };
        },
      }),
    ],
  }),
});

/** Reports that it failed, and not that it is not ready: a result without Ready and without children makes an object Ready. */
export const contradictory: Operator = operator({
  ...sound,
  create: () => ({
    controllers: [controller(Widget, { reconcile: () => ({ status: { text: "out of disk", phase: "Failed" } }) })],
  }),
});

let lives = 0;

/** Reports something that is another in each run, as the node of a pod is. */
export const placed: Operator = operator({
  ...sound,
  create: () => {
    const text = `node-${++lives}`;
    return {
      controllers: [controller(Widget, { reconcile: ({ status }) => ({ status: { text: status?.text ?? text } }) })],
    };
  },
});

/** A Widget is made, and its status says so. */
export const converges =
  (which: Operator): Scenario =>
  async (stage) => {
    await stage.start(which);
    await stage.apply({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { text: "hello" },
    });
    await stage.until("the status is written", async () => (await stage.get(Widget, "w")).status?.text !== undefined);
  };
