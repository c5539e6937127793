import { ConfigMap } from "@konverge/kinds";
import { controller, operator } from "@konverge/runtime";
import { explore, writeExploration } from "@konverge/testing";

/** Explores an operator that forgets a write that fails, and returns the file with what was found. */
export async function exploreForgetful(folder: string): Promise<string> {
  const exploration = await explore(
    async (environment) => {
      await environment.start(forgetful());
      await environment.apply({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", labels: { copy: "yes" } },
        data: { text: "hello" },
      });
      await environment.settled();
    },
    { faults: ["error"], findings: 1 },
  );
  const file = writeExploration(exploration, "forgetful", folder).find((name) => name.endsWith("exploration.json"));
  return file!;
}

function forgetful() {
  const copied = new Set<string>();
  const copies = controller(ConfigMap, {
    name: "copies",
    labelSelector: "copy=yes",
    permissions: [{ kind: ConfigMap, verbs: ["create"] }],
    reconcile: async ({ metadata, data }, { client }) => {
      if (copied.has(metadata.name)) return {};
      copied.add(metadata.name);
      await client.create(ConfigMap, {
        metadata: { name: `${metadata.name}-copy`, namespace: metadata.namespace! },
        data: { text: data?.["text"] ?? "" },
      });
      return {};
    },
  });
  return operator({
    name: "copies-operator",
    description: "Copies ConfigMaps.",
    kinds: [],
    create: () => ({ controllers: [copies] }),
  });
}
