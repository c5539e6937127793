import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@konverge/client";
import { realClock } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import type { Rehearsal } from "@konverge/testing";
import { rehearseFromCommandLine } from "../src/rehearse/rehearse-command.ts";
import { runCommand } from "../src/run/run-command.ts";
import { until } from "./command-stage.ts";
import { Store } from "./store-operator.ts";

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why };
const present = fileURLToPath(new URL("./store-operator.ts", import.meta.url));
const next = fileURLToPath(new URL("./next-store-operator.ts", import.meta.url));
/** Each comes with a StatefulSet, a pod, a revision and a Secret. */
const STORES = Number(process.env["KONVERGE_STORES"] ?? 40);
const PASSWORD = "correct-horse-Battery9";

const clock = realClock();
const folder = mkdtempSync(join(tmpdir(), "konverge-rehearse-"));
let [cluster, client]: [RealCluster, Client] = [undefined!, undefined!];

before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 20 } });
  client = await connect({ kubeconfig: cluster.kubeconfig });
  await client.create(CustomResourceDefinition, Store.crd());
  await until("the kind is served", () => client.list(Store).then(() => true));
  for (let i = 0; i < STORES; i++) {
    const metadata = { name: `store-${i}`, namespace: "default" };
    await client.create(Store.new({ metadata, spec: { password: `${PASSWORD}-${i}` } }));
  }
  await converge();
});

after(async () => {
  await client?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The present version brings all stores to their end, and stops. */
async function converge(): Promise<void> {
  const stop = new AbortController();
  const world = { env: {}, stop: stop.signal, write: () => {} };
  const args = [present, "--kubeconfig", cluster.kubeconfig, "--permissions", "kubeconfig"];
  const done = runCommand(() => world).parseAsync(
    [...args, "--metrics-bind-address=0", "--health-probe-bind-address=0"],
    { from: "user" },
  );
  for (;;) {
    const { items } = await client.list(Store);
    if (items.every(({ status }) => status?.ready === 1)) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  stop.abort();
  await done;
}

interface Given {
  readonly operator: string;
  readonly against?: string;
  readonly results?: string;
}

async function rehearsed(t: TestContext, given: Given): Promise<Rehearsal> {
  let output = "";
  const began = clock.monotonic();
  await rehearseFromCommandLine(
    { fromContext: true, kubeconfig: cluster.kubeconfig, output: "json", ...given },
    {
      flags: new Map(),
      env: {},
      print: (text) => {
        output += text;
      },
      progress: (text) => t.diagnostic(text),
    },
  );
  const rehearsal = JSON.parse(output) as Rehearsal;
  const memory = Math.round(process.memoryUsage().rss / 2 ** 20);
  t.diagnostic(
    `${rehearsal.objects} objects, ${((clock.monotonic() - began) / 1000).toFixed(1)} s, ${memory} MiB: ${rehearsal.findings.map(({ type }) => type).join(", ") || "nothing"}`,
  );
  return rehearsal;
}

test("three regressions of the next version are found on the state of a real control plane", options, async (t) => {
  const results = join(folder, "results");
  const { findings } = await rehearsed(t, { operator: next, against: present, results });
  const found = (type: string) => findings.filter((one) => one.type === type);
  assert.equal(found("recreation").find(({ resource }) => resource === "statefulsets.apps")?.objects.length, STORES);
  assert.equal(found("unending")[0]?.resource, "stores.test.example.com");
  assert.match(found("unending")[0]!.message, /^status\.phase is written again and again, .*"Checking", "Serving"/);
  assert.ok(
    findings.some(({ message, type }) => type === "restart" || message.includes("env[MODE]")),
    JSON.stringify(findings, undefined, 2),
  );
  for (const file of readdirSync(results)) {
    assert.ok(!readFileSync(join(results, file), "utf8").includes(PASSWORD), file);
  }
});

test("an upgrade that changes nothing is quiet", options, async (t) => {
  const { findings, notes } = await rehearsed(t, { operator: present, against: present });
  assert.deepEqual([findings, notes], [[], []]);
});
