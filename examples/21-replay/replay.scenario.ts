import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "konverge/kinds";
import { replayDifferenceText, replayRecording } from "konverge/recording";
import type { Place } from "../test/place.ts";
import { Site, sites } from "./replay.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-example-"));
  const recorder = join(folder, "reconciles.jsonl");
  try {
    await install(Site);
    const metadata = { name: "login", namespace };
    await client.create(Secret, { metadata, stringData: { password: "open sesame" } });
    await run(sites("http"), { recorder });
    await client.create(
      Site,
      Site.new({ metadata: { name: "blog", namespace }, spec: { title: "A blog", password: "login" } }),
    );
    await until("it is there", async () => {
      return (await client.get(Site, `${namespace}/blog`)).status?.url === "http://blog.example.com";
    });
    assert.ok(!readFileSync(recorder, "utf8").includes("open sesame"));
    for await (const { differences } of replayRecording(recorder, sites("http"))) assert.deepEqual(differences, []);
    const reported: string[] = [];
    for await (const { differences } of replayRecording(recorder, sites("https"))) {
      reported.push(differences.map(replayDifferenceText).join("\n"));
    }
    assert.equal(
      reported[0],
      [
        `  ~ child ConfigMap ${namespace}/blog`,
        '    draft.data.url: "http://blog.example.com" → "https://blog.example.com"',
        "  ~ status",
        '    url: "http://blog.example.com" → "https://blog.example.com"',
      ].join("\n"),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
