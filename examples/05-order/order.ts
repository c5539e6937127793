// Do one thing after the other: the server comes after the migration is done.
import { controller, defineKind, plannedChild, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Rollout = defineKind({
  group: "examples.konverge.dev",
  kind: "Rollout",
  versions: { v1: { spec: z.object({ version: z.string() }) } },
});

const step = (name: string, version: string) => ConfigMap.draft({ metadata: { name }, data: { version } });

export const rollouts = controller(Rollout, {
  owns: [ConfigMap],
  reconcile({ metadata: { name }, spec: { version } }) {
    const migration = step(`${name}-migration`, version);
    return {
      children: [
        // The program that migrates reports it in a field that it owns.
        plannedChild(migration, { readyWhen: ({ data }) => data?.["done"] === data?.["version"] }),
        plannedChild(step(`${name}-server`, version), { after: [migration] }),
      ],
    };
  },
});
