// Change the shape of a kind without leaving anybody behind: two versions, of which one is stored.
import { controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";
import { Webhooks } from "konverge/webhooks";

export const Message = defineKind({
  group: "examples.konverge.dev",
  kind: "Message",
  stored: "v2",
  versions: {
    // As it was: one text.
    v1: { spec: z.object({ text: z.string() }) },
    v2: { spec: z.object({ greeting: z.string(), name: z.string().optional() }) },
  },
  conversion: {
    v1: {
      toStored({ spec }) {
        const [greeting = "", name] = spec.text.split(", ");
        return { spec: { greeting, ...(name !== undefined && { name }) } };
      },
      fromStored: ({ spec }) => ({ spec: { text: [spec.greeting, spec.name].filter(Boolean).join(", ") } }),
    },
  },
});

/** The API server asks these for each request in a version that is not the stored one. */
export const messageWebhooks = new Webhooks({ conversions: [Message] });

/** A controller sees every object in the stored version, whatever version a client wrote. */
export const messages = controller(Message, {
  owns: [ConfigMap],
  reconcile: ({ metadata, spec }) => ({
    children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { to: spec.name ?? "all" } })],
  }),
});
