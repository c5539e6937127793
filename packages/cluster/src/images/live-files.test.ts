import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "@konverge/client";
import { realClock, sleep, VirtualClock } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { LiveFiles } from "./live-files.ts";
import { PodTokens } from "./pod-tokens.ts";

const skip = process.platform === "win32";

/** Files are written in real time: a minute of it is more than enough. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !holds(); i++) await sleep(realClock(), 10);
  assert.ok(holds());
}

test("files follow what they are made from, in memory and on disk", async () => {
  const clock = new VirtualClock();
  let content = new Map([
    ["/etc/a", "one"],
    ["/etc/b", "gone soon"],
  ]);
  const live = new LiveFiles(clock, async () => content);
  await live.open();
  const folder = await live.folder();
  assert.equal(readFileSync(join(folder, "etc/a"), "utf8"), "one");
  content = new Map([["/etc/a", "two"]]);
  await clock.advance(60_000);
  await until(() => live.files.get("/etc/a") === "two");
  assert.equal(readFileSync(join(folder, "etc/a"), "utf8"), "two");
  assert.ok(!existsSync(join(folder, "etc/b")));
  assert.deepEqual([...live.files], [["/etc/a", "two"]]);
  await live.close();
  assert.ok(!existsSync(folder));
});

test("a link that a program puts into its folder does not lead the next refresh out of it", { skip }, async () => {
  const clock = new VirtualClock();
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  try {
    writeFileSync(join(outside, "a"), "theirs");
    writeFileSync(join(outside, "gone"), "theirs");
    let now = new Map([
      ["/etc/a", "one"],
      ["/run/gone", "one"],
    ]);
    const live = new LiveFiles(clock, async () => now);
    await live.open();
    const folder = await live.folder();
    for (const name of ["etc", "run"]) {
      rmSync(join(folder, name), { recursive: true });
      symlinkSync(outside, join(folder, name));
    }
    now = new Map([
      ["/etc/a", "two"],
      ["/etc/new", "two"],
    ]);
    await clock.advance(60_000);
    await until(() => live.files.get("/etc/new") === "two");
    assert.equal(readFileSync(join(folder, "etc", "new"), "utf8"), "two");
    assert.deepEqual(readdirSync(outside).sort(), ["a", "gone"]);
    assert.equal(readFileSync(join(outside, "a"), "utf8"), "theirs");
    symlinkSync(outside, join(folder, "left"));
    await live.close();
    assert.deepEqual(readdirSync(outside).sort(), ["a", "gone"]);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test("a token is asked for once, and again before it expires", async () => {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const client = {
    requestToken: async (account: string, { audiences }: { audiences?: string[] }) => {
      asked.push([account, audiences]);
      return { token: `token ${asked.length}`, expirationTimestamp: "" };
    },
  } as unknown as Client;
  const pod = {
    metadata: { name: "a", namespace: "b", uid: "u" },
    spec: { serviceAccountName: "c" },
  } as unknown as Pod;
  const tokens = new PodTokens(client, clock, pod);
  assert.equal(await tokens.token({ expirationSeconds: 1000 }), "token 1");
  await clock.advance(799_000);
  assert.equal(await tokens.token({ expirationSeconds: 1000 }), "token 1");
  await clock.advance(2_000);
  assert.equal(await tokens.token({ expirationSeconds: 1000 }), "token 2");
  assert.equal(await tokens.token({ audience: "vault", expirationSeconds: 1000 }), "token 3");
  assert.deepEqual(asked, [
    ["b/c", undefined],
    ["b/c", undefined],
    ["b/c", ["vault"]],
  ]);
});
