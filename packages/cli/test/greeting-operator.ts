import { ConfigMap } from "@konverge/kinds";
import { admissionWebhook, controller, fieldInvalid, operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";

const status = z.object({ said: z.string().optional() });

/** A kind that is small enough to be seen through: a greeting in a ConfigMap. An older version has another word for it. */
export const Greeting = defineKind({
  group: "test.example.com",
  kind: "Greeting",
  stored: "v1",
  versions: {
    v1: { spec: z.object({ to: z.string() }), status },
    v1alpha1: { spec: z.object({ whom: z.string() }), status },
  },
  conversion: {
    v1alpha1: {
      toStored: ({ spec, ...rest }) => ({ ...rest, spec: { to: spec.whom } }),
      fromStored: ({ spec, ...rest }) => ({ ...rest, spec: { whom: spec.to } }),
    },
  },
});

/** The operator that the tests of the command run. */
export const greetingOperator = operator({
  name: "greeting-operator",
  description: "Greets.",
  kinds: [Greeting],
  settings: [{ flag: "word", env: "GREETING_WORD", default: "Hello", description: "How to greet." }],
  create: ({ settings }) => ({
    controllers: [
      controller(Greeting, {
        owns: [ConfigMap],
        reconcile: ({ metadata, spec }) => {
          const said = `${settings["word"]}, ${spec.to}`;
          return {
            children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { said } })],
            status: { said },
          };
        },
      }),
    ],
    admissions: [
      admissionWebhook(Greeting, {
        validate: ({ spec }) => (spec.to === "nobody" ? [fieldInvalid("spec.to", spec.to, "must be somebody")] : []),
      }),
    ],
  }),
});
