import { ConfigMap } from "@konverge/kinds";
import { controller, operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";

/** A kind that is installed with a chart. */
export const Echo = defineKind({
  group: "peers.example.com",
  kind: "Echo",
  plural: "echoes",
  versions: { v1: { spec: z.object({ text: z.string() }) } },
});

/** An operator whose setting is a flag. */
export const echoOperator = operator({
  name: "echo-operator",
  description: "Repeats a text in a ConfigMap.",
  kinds: [Echo],
  settings: [{ flag: "times", default: "2", description: "How often." }],
  create: ({ settings }) => ({
    controllers: [
      controller(Echo, {
        owns: [ConfigMap],
        reconcile: ({ metadata, spec }) => {
          const said = `${spec.text} ${settings["times"]} times`;
          return { children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { said } })] };
        },
      }),
    ],
  }),
});
