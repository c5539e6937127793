import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { isConflict, type KindRef, type KubeObject, realClock, sleep } from "@konverge/core";
import * as kinds from "@konverge/kinds";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { defineKind, type ObjectOf } from "@konverge/schema";
import { z } from "zod";
import { readAuditLog } from "../test/audit-log.ts";
import { builtinDrafts } from "../test/builtin-drafts.ts";
import { type Controller, controller, type ManagerOptions, run } from "./index.ts";

const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);
const options = { skip: plane.available ? false : plane.why };
const clock = realClock();

const Widget = defineKind({
  group: "example.com",
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({ maps: z.array(z.string()).default([]), text: z.string().default("") }),
      status: z.object({ count: z.int().optional() }),
    },
  },
});
type Widget = ObjectOf<typeof Widget>;

const folder = mkdtempSync(join(tmpdir(), "konverge-runtime-"));
const auditLog = join(folder, "audit.log");
let cluster: RealCluster;
let user: Client;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ auditLog, ...(kubernetes && { kubernetes }) });
  user = await connect({ kubeconfig: cluster.kubeconfig });
  await user.create(CustomResourceDefinition, Widget.crd() as never);
  await until("the CRD is served", () =>
    user.list(Widget).then(
      () => true,
      () => false,
    ),
  );
});
after(async () => {
  await user?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true });
});

async function until(what: string, condition: () => Promise<boolean> | boolean, ms = 60_000): Promise<void> {
  const deadline = clock.monotonic() + ms;
  while (!(await condition())) {
    if (clock.monotonic() > deadline) assert.fail(`it never came true that ${what}`);
    await sleep(clock, 50);
  }
}

let operators = 0;

/** An operator, and the requests that the server has seen from it. */
async function operator(controllers: Controller | Controller[], more: Partial<ManagerOptions> = {}) {
  const userAgent = `operator-${++operators}`;
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent });
  const manager = await run(controllers, { client, ...more });
  const requests = () => readAuditLog(auditLog).filter((request) => request.userAgent === userAgent);
  return {
    manager,
    client,
    requests,
    writes: () => requests().filter(({ verb }) => !["get", "list", "watch"].includes(verb)),
    async stop() {
      await manager.stop();
      await client.close();
    },
  };
}

/** Waits until an operator has made no request for a while. */
async function quiet({ requests }: { requests: () => unknown[] }, ms = 1000): Promise<void> {
  let count = -1;
  let since = clock.monotonic();
  await until("the operator is quiet", async () => {
    const now = requests().length;
    if (now !== count) since = clock.monotonic();
    count = now;
    return clock.monotonic() - since > ms;
  });
}

async function namespace(name: string): Promise<void> {
  await user.create(Namespace, { metadata: { name } });
}

const widget = (place: { name: string; namespace: string }, spec: Partial<Widget["spec"]> = {}) =>
  user.create(Widget, Widget.new(place, spec));

test("an apply with a version that no object has creates, and fails if there is one", options, async () => {
  await namespace("create-only");
  const draft = { metadata: { name: "a", namespace: "create-only", resourceVersion: "1" }, data: { a: "1" } };
  const made = await user.apply(ConfigMap, draft, { fieldManager: "me" });
  assert.equal(made.metadata.managedFields?.[0]?.operation, "Apply");
  await assert.rejects(
    user.apply(ConfigMap, { ...draft, data: { a: "2" } }, { fieldManager: "me", force: true }),
    isConflict,
  );
});

test("children of all usual kinds are written once, and not again after a restart", options, async () => {
  await namespace("kinds");
  const drafts = builtinDrafts("child");
  const handles = new Map(Object.entries(kinds));
  const owns = drafts.map(({ kind }) => handles.get(kind) as KindRef<KubeObject>);
  const all = () =>
    controller(Widget, {
      name: "all-kinds",
      namespaces: ["kinds"],
      owns,
      reconcile: () => ({ children: builtinDrafts("child"), status: { count: 1 } }),
    });
  const first = await operator(all());
  await widget({ name: "w", namespace: "kinds" });
  await quiet(first);
  await first.stop();
  assert.deepEqual(
    first
      .writes()
      .filter(({ code }) => code >= 300)
      .map(({ uri, code }) => `${code} ${uri}`),
    [],
  );
  const perChild = new Map<string, number>();
  for (const { uri } of first.writes()) {
    const path = uri.split("?")[0]!;
    perChild.set(path, (perChild.get(path) ?? 0) + 1);
  }
  assert.deepEqual(
    [...perChild].filter(([path, count]) => count > 1 && !path.endsWith("/status")),
    [],
  );
  assert.equal(perChild.size, drafts.length + 1);
  const second = await operator(all());
  await quiet(second);
  await second.stop();
  assert.deepEqual(
    second.writes().map(({ uri }) => uri),
    [],
  );
});
