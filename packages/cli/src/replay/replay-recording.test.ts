import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { VirtualClock } from "@konverge/core";
import { ConfigMap, Namespace } from "@konverge/kinds";
import { controller, Manager, type Operator, operator } from "@konverge/runtime";
import { replayFile } from "./replay-recording.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-replay-"));
after(() => rmSync(folder, { recursive: true }));

const copying = (letters: (text: string) => string): Operator =>
  operator({
    name: "copy-operator",
    description: "Writes what a ConfigMap says into another.",
    kinds: [],
    create: () => ({
      controllers: [
        controller(ConfigMap, {
          name: "copies",
          labelSelector: "copied=yes",
          owns: [ConfigMap],
          reconcile: ({ metadata, data }) => ({
            children: [
              ConfigMap.draft({
                metadata: { name: `${metadata.name}-copy` },
                data: { text: letters(data?.["text"] ?? "") },
              }),
            ],
          }),
        }),
      ],
    }),
  });

async function record(file: string): Promise<void> {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  const client = new Client(server.transport, { clock });
  await client.create(Namespace, { metadata: { name: "default" } }).catch(() => {});
  const { controllers } = copying((text) => text).create({} as never);
  const manager = new Manager(controllers, { client, recorder: file });
  void manager.start();
  for (const [name, text] of Object.entries({ a: "x", b: "Y" })) {
    const metadata = { name, namespace: "default", labels: { copied: "yes" } };
    await client.create(ConfigMap, { metadata, data: { text } });
  }
  await clock.advance(10_000);
  const stopped = manager.stop();
  await clock.advance(60_000);
  await stopped;
}

test("a recording is replayed by operators, and what they would do differently is reported", async () => {
  const file = join(folder, "a.jsonl");
  await record(file);
  const lines: string[] = [];
  const world = { flags: new Map(), env: {}, tell: (line: string) => void lines.push(line) };
  const unchanged = await replayFile(file, [copying((text) => text)], {}, world);
  assert.equal(unchanged.different, 0);
  assert.ok(unchanged.same >= 2);
  assert.match(lines.splice(0).join("\n"), /^\d+ reconciles replayed: \d+ the same, 0 different$/);

  const changed = await replayFile(file, [copying((text) => text.toUpperCase())], {}, world);
  assert.ok(changed.different > 0 && changed.same > 0);
  assert.match(lines[0]!, /^copies default\/a at 2026-01-01T/);
  assert.match(lines[0]!, /~ child ConfigMap default\/a-copy\n {4}draft\.data\.text: "x" → "X"/);
  lines.length = 0;

  await replayFile(file, [copying(() => "z")], { object: "default/b", output: "json" }, world);
  assert.deepEqual([...new Set(lines.map((line) => (JSON.parse(line) as { key: string }).key))], ["default/b"]);
  lines.length = 0;

  const { skipped } = await replayFile(file, [], {}, world);
  assert.ok(skipped >= 2);
  assert.match(lines[0]!, /not replayed: there is no controller called copies/);
});

test("a file that is not there is named", async () => {
  await assert.rejects(
    replayFile(join(folder, "nowhere"), [], {}, { flags: new Map(), env: {}, tell: () => {} }),
    /there is no file .*nowhere/,
  );
});
