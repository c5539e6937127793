import { startCluster } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { controller, run } from "@konverge/runtime";

const copies = controller(ConfigMap, {
  name: "copies",
  labelSelector: "copy=yes",
  owns: [ConfigMap],
  reconcile: ({ metadata, data }) => ({
    children: [ConfigMap.draft({ metadata: { name: `${metadata.name}-copy` }, data: { text: data?.["text"] ?? "" } })],
  }),
});

/** Records an operator that copies ConfigMaps: one is created, then changed. */
export async function recordCopies(file: string): Promise<void> {
  await using cluster = await startCluster();
  const { client } = cluster;
  const manager = await run(copies, { client, recorder: file });
  const until = async (text: string) => {
    for (;;) {
      const found = await client.get(ConfigMap, "default/a-copy").catch(() => undefined);
      if (found?.data?.["text"] === text) return;
      await sleep(client.clock, 20);
    }
  };
  const metadata = { name: "a", namespace: "default", labels: { copy: "yes" } };
  await client.create(ConfigMap, { metadata, data: { text: "hello" } });
  await until("hello");
  await client.patch(ConfigMap, "default/a", { merge: { data: { text: "bye" } } });
  await until("bye");
  await manager.stop();
}
