import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realClock } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { commandStage, until } from "../../test/command-stage.ts";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { install } from "../deploy/install.ts";
import { runOperators } from "./run-operators.ts";

const MODULE = fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url));
const silently = { namespace: "default", tell: () => {} };
const base = { webhooks: "off", webhookPort: 0 } as const;

test("a dry run prints each write with what it would change, makes none, and ends", async () => {
  await using stage = await commandStage({ nodes: [] });
  const { client, kubeconfig } = stage;
  await install([greetingOperator], client, silently);
  const metadata = { name: "a", namespace: "default" };
  await client.create(Greeting.new({ metadata, spec: { to: "you" } }));
  const run = async (output: "text" | "json", word: string) => {
    const lines: string[] = [];
    const world = {
      env: {},
      stop: new AbortController().signal,
      write: () => {},
      print: (line: string) => void lines.push(line),
    };
    await runOperators([MODULE, `--word=${word}`], { ...base, kubeconfig, dryRun: true, output }, world);
    return lines;
  };
  const first = await run("text", "Hello");
  assert.ok(first.includes("create configmaps default/a"), first.join("\n"));
  assert.ok(first.includes("apply greetings.test.example.com/status default/a"), first.join("\n"));
  assert.ok(first.includes('    /status/said: nothing → "Hello, you"'), first.join("\n"));
  assert.match(first.at(-1)!, /^\d+ writes would be made; nothing was written\.$/);
  assert.equal(
    (await client.list(ConfigMap, { namespace: "default" })).items.some(({ metadata }) => metadata.name === "a"),
    false,
  );
  assert.equal((await client.get(Greeting, "default/a")).status?.said, undefined);

  // With the child there, what a setting would change in it is seen.
  const stop = new AbortController();
  const working = runOperators([MODULE], { ...base, kubeconfig }, { env: {}, stop: stop.signal, write: () => {} });
  await until(
    "it works",
    async () => (await client.get(Greeting, "default/a")).status?.said === "Hello, you",
    realClock(),
  );
  stop.abort();
  await working;
  const { resourceVersion } = (await client.get(ConfigMap, "default/a")).metadata;
  const writes = (await run("json", "Good day")).map((line) => JSON.parse(line));
  const child = writes.find(({ resource }) => resource === "configmaps");
  assert.deepEqual(child, {
    ...{ verb: "apply", resource: "configmaps", namespace: "default", name: "a" },
    changes: [{ path: "/data/said", before: "Hello, you", after: "Good day, you" }],
  });
  assert.equal((await client.get(ConfigMap, "default/a")).metadata.resourceVersion, resourceVersion);
});

test("what would write anyhow is refused beside a dry run", async () => {
  const world = { env: {}, stop: new AbortController().signal, write: () => {} };
  for (const [flag, option] of Object.entries({
    "--install": { install: true },
    "--watch": { watch: true },
    "--leader-elect": { leaderElect: true },
  })) {
    await assert.rejects(
      runOperators([MODULE], { ...base, ...option, dryRun: true }, world),
      new RegExp(`--dry-run writes nothing, so it cannot be combined with ${flag}`),
    );
  }
});
