// Judge writes before they are stored: fill in what is missing, refuse what makes no sense, warn.
import { defineKind, z } from "konverge";
import { admissionWebhook, fieldForbidden, Webhooks } from "konverge/webhooks";

export const Tank = defineKind({
  group: "examples.konverge.dev",
  kind: "Tank",
  versions: { v1: { spec: z.object({ litres: z.int(), owner: z.string().optional() }) } },
});

export const tankWebhooks = new Webhooks({
  admissions: [
    admissionWebhook(Tank, {
      mutate(draft, { user }) {
        draft.spec.owner ??= user.username;
      },
      validate({ spec }, { old, warn }) {
        if (spec.litres > 1_000) warn("a tank this large needs a permit");
        return old && spec.litres < old.spec.litres ? [fieldForbidden("spec.litres", "a tank cannot shrink")] : [];
      },
    }),
  ],
});
