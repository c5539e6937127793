import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import type { Place } from "../test/place.ts";
import { Phone, phones } from "./external.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Phone);
  const lines = new Map<string, string>();
  await run(
    phones({
      read: async (number) => lines.get(number),
      write: async (number, forwardTo) => void lines.set(number, forwardTo),
      cancel: async (number) => void lines.delete(number),
    }),
  );
  await client.create(Phone.new({ metadata: { name: "p", namespace }, spec: { forwardTo: "Ann" } }));
  await until("there is a line", () => [...lines.values()].join() === "Ann");
  const [number = ""] = lines.keys();
  lines.set(number, "another user");
  await until("what drifted is repaired", () => lines.get(number) === "Ann");
  await client.delete(Phone, `${namespace}/p`);
  await until("the phone is gone", () => client.get(Phone, `${namespace}/p`).then(() => false, isNotFound));
  assert.equal(lines.size, 0);
}
