// Adopt what another operator managed: its objects, its fields, its finalizer.
import { controller, defineKind, ownedKind, z } from "konverge";
import { adoptFields } from "konverge/adoption";
import type { Client } from "konverge/client";
import { ConfigMap } from "konverge/kinds";

export const Garden = defineKind({
  group: "examples.konverge.dev",
  kind: "Garden",
  versions: { v1: { spec: z.object({ plant: z.string() }), status: z.object({ plant: z.string().optional() }) } },
});

/** As `kubectl get --show-managed-fields` shows the other operator. */
export const FORMER = "former-operator";

export const gardens = controller(Garden, {
  name: "gardens",
  // What it wrote into the children becomes ours, so that what we do not want of it goes.
  owns: [ownedKind(ConfigMap, { from: [FORMER] })],
  reconcile: ({ metadata, spec }) => ({
    children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { plant: spec.plant } })],
    status: { plant: spec.plant },
  }),
});

/** To be called once, when the other operator has stopped for good: no other program will remove its finalizer. */
export async function takeGardens(client: Client, namespace: string): Promise<void> {
  for await (const { metadata } of client.each(Garden, { namespace })) {
    await adoptFields(client, Garden, `${namespace}/${metadata.name}`, {
      from: [FORMER],
      to: gardens.name,
      removeFinalizers: ["former.example.com/cleanup"],
      removeLabels: ["former.example.com/managed"],
    });
  }
}
