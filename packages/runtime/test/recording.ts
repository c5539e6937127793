import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conditionFalse, timestamp } from "@konverge/core";
import { ConfigMap, Secret } from "@konverge/kinds";
import {
  type Controller,
  cacheKind,
  controller,
  ExternalError,
  externalResource,
  ownedKind,
  PermanentError,
  plannedChild,
  type ReplayedReconcile,
  replayDifferenceText,
  replayRecording,
} from "@konverge/runtime";
import { scenario } from "./scenario.ts";
import { configMap, Widget } from "./stage.ts";

/** Gives a file that is gone afterwards. */
async function withFile(work: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-recording-"));
  try {
    await work(join(folder, "reconciles.jsonl"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function replayed(file: string, controllers: Controller): Promise<ReplayedReconcile[]> {
  return Array.fromAsync(replayRecording(file, controllers));
}

/** What all replayed reconciles would do differently, as text. */
const told = (all: readonly ReplayedReconcile[]) =>
  all.flatMap(({ differences }) => differences.map(replayDifferenceText));

/** Looks at everything that a reconciler can look at. */
const curious = (changes: { replicas?: string; more?: boolean } = {}): Controller =>
  controller(Widget, {
    name: "curious",
    owns: [ConfigMap],
    watches: [cacheKind(Secret, { indexes: { byType: ({ type }) => [type ?? ""] } })],
    async reconcile(widget, context) {
      const { cache, client, clock, events, observed } = context;
      const secrets = cache.find(Secret, "byType", "example.com/kind").length + cache.list(Secret, "default").length;
      const missing = await client.get(ConfigMap, "default/missing").then(
        () => "there",
        (error: Error) => error.message,
      );
      const version = await context.callExternal("version", async () => ({ text: "v7" }));
      const draft = configMap("child", { text: widget.spec.text, replicas: changes.replicas ?? "1" });
      const before = observed(draft)?.data?.["text"] ?? "none";
      events.normal("Looked", `${widget.metadata.name} at ${clock.now()}`);
      return {
        children: [draft, ...(changes.more ? [configMap("more", { missing })] : [])],
        status: { count: secrets, text: `${timestamp(clock)} ${clock.random.uuid()} ${before} ${version.text}` },
        conditions: { Odd: conditionFalse("Never", changes.more ? "not even now" : "") },
        requeueAfter: 3_600_000 + clock.random.below(1000),
      };
    },
  });

scenario("the same code does the same when it is put to the same again", (s) =>
  withFile(async (file) => {
    await s.user.create(Secret, { metadata: { name: "s", namespace: "default" }, type: "example.com/kind" });
    const manager = await s.run(curious(), { recorder: file });
    await s.widget("w", { text: "1" });
    await s.settle();
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
    await s.settle();
    await s.during(manager.stop());
    const all = await replayed(file, curious());
    assert.ok(all.length >= 3);
    assert.deepEqual(told(all), []);
    assert.deepEqual(
      all.flatMap(({ unrecorded }) => unrecorded),
      [],
    );
    const steps = all.flatMap(({ recorded }) => recorded.steps);
    const writes = steps.flatMap((step) => (step.step === "call" ? `${step.call.verb} ${step.call.kind.kind}` : []));
    assert.ok(writes.includes("apply ConfigMap") && writes.includes("apply Widget"));
    assert.ok(all.every(({ recorded }) => recorded.triggers.length > 0 && recorded.end.outcome === "done"));
  }),
);

/** Creates two ConfigMaps, one of which has the name of another object, and reports what became of them. */
const reporting = (word: string): Controller =>
  controller(Widget, {
    name: "reporting",
    owns: [ownedKind(ConfigMap, { createOnly: true })],
    reconcile: (_widget, { events }) => ({
      children: ["mine", "theirs"].map((name) => plannedChild(configMap(name, {}), { onRefused: "report" })),
      report({ created, refused }) {
        for (const { metadata } of created) events.normal("Created", metadata.name!);
        return {
          status: { text: `${word} ${refused.map(({ child, reason }) => `${child.metadata.name} ${reason}`)}` },
        };
      },
    }),
  });

scenario("a recording holds what became of the children, and what was reported of it", (s) =>
  withFile(async (file) => {
    await s.user.create(ConfigMap, { metadata: { name: "theirs", namespace: "default" } });
    const manager = await s.run(reporting("not"), { recorder: file });
    await s.widget("w");
    await s.settle();
    await s.during(manager.stop());
    assert.equal((await s.user.get(Widget, "default/w")).status?.text, "not theirs ChildExists");
    assert.deepEqual(told(await replayed(file, reporting("not"))), []);
    const [first] = await replayed(file, reporting("never"));
    assert.deepEqual(first!.differences.map(replayDifferenceText), [
      '  ~ status\n    text: "not theirs ChildExists" → "never theirs ChildExists"',
    ]);
  }),
);

scenario("other code is recognized by what it would do differently", (s) =>
  withFile(async (file) => {
    const manager = await s.run(curious(), { recorder: file });
    await s.widget("w", { text: "1" });
    await s.settle();
    await s.during(manager.stop());
    const [first] = await replayed(file, curious({ replicas: "2", more: true }));
    assert.deepEqual(first!.differences.map(replayDifferenceText), [
      '  ~ child ConfigMap default/child\n    draft.data.replicas: "1" → "2"',
      '  + child ConfigMap default/more\n    (absent) → {"draft":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"more"},' +
        '"data":{"missing":"configmaps \\"missing\\" not found"}}}',
      '  ~ condition Odd\n    message: "" → "not even now"',
    ]);
    const otherwise = controller(Widget, {
      name: "curious",
      owns: [ConfigMap],
      async reconcile(_widget, { client, observed, events }) {
        events.warning("Changed", "my mind");
        await client.delete(ConfigMap, "default/child");
        if (observed(ConfigMap, "unheard-of") === undefined) throw new PermanentError("No", "never");
        return {};
      },
    });
    const [changed] = await replayed(file, otherwise);
    assert.deepEqual(
      changed!.differences.map(({ what, change }) => `${change} ${what}`),
      [
        "added error",
        "changed children are no longer returned",
        "removed status",
        "removed condition Odd",
        "added write delete ConfigMap default/child",
        "removed requeueAfter",
        "changed events",
      ],
    );
    assert.match(
      changed!.unrecorded.join(),
      /whether there is a ConfigMap default\/unheard-of, which was not recorded/,
    );
    const [unknown] = await replayed(file, controller(Widget, { name: "other", reconcile: () => ({}) }));
    assert.match(unknown!.skipped!, /no controller called curious/);
  }),
);

scenario("failures, cleanups and things outside replay as they were", (s) =>
  withFile(async (file) => {
    const lines = new Map<string, string>();
    let asked = 0;
    const operator = (company: Map<string, string>) => {
      const line = externalResource<Widget, string, string>(Widget, {
        name: "line",
        observe: async (id) => company.get(id),
        create: async (id, desired) => void company.set(id, desired) as undefined,
        matches: (observed, desired) => observed === desired,
        update: async (id, desired) => void company.set(id, desired),
        delete: async (id) => void company.delete(id),
      });
      return controller(Widget, {
        name: "lines",
        async reconcile(widget, context) {
          if (widget.spec.text === "wait") throw new ExternalError("Later", "not yet");
          return { status: { text: await line.converge(widget, widget.spec.text, context) } };
        },
        async cleanup(widget, context) {
          if (company === lines && asked++ === 0) return { waitingFor: "the operator" };
          return await line.remove(widget, context);
        },
      });
    };
    const manager = await s.run(operator(lines), { recorder: file });
    await s.widget("w", { text: "a" });
    await s.settle();
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "wait" } } });
    await s.settle();
    await s.user.delete(Widget, "default/w");
    await s.settle();
    assert.equal(await s.exists(Widget, "default/w"), false);
    await s.during(manager.stop());
    assert.equal(lines.size, 0);
    // Whatever it is put to, the replay reaches nothing outside.
    const company = new Map<string, string>();
    const all = await replayed(file, operator(company));
    assert.equal(company.size, 0);
    // The first cleanup went no further then: what it reads now is not in the recording.
    assert.deepEqual(told(all), [
      '  + error\n    (absent) → {"name":"Error","message":"line observe was not called when this was recorded, so there is no ' +
        'recorded response"}',
      '  - cleanup is waiting for\n    "the operator" → (absent)',
    ]);
    assert.ok(all.some(({ before }) => before.result.error?.reason === "Later"));
  }),
);

scenario("no secret gets into a recording, wherever it turns up", (s) =>
  withFile(async (file) => {
    const password = "correct horse battery staple";
    const drawn: string[] = [];
    const operator = controller(Widget, {
      name: "leaky",
      owns: [ConfigMap, Secret],
      watches: [cacheKind(Secret)],
      async reconcile(widget, { cache, client, clock, events }) {
        const known = cache.get(Secret, "default/made")?.data?.["token"];
        const token = known ? Buffer.from(known, "base64").toString() : clock.secrets.text(24);
        drawn.push(token, clock.secrets.text(24));
        const secret = cache.get(Secret, "default/login");
        const plain = Buffer.from(secret?.data?.["password"] ?? "", "base64").toString();
        events.warning("Leak", `it is ${plain}`);
        await client.patch(Secret, "default/login", { merge: { stringData: { extra: "the second secret" } } });
        if (widget.spec.text === "fail") throw new Error(`cannot log in with ${plain}`);
        return {
          children: [
            configMap("leak", { url: `https://me:${plain}@example.com`, token: "a marked field" }),
            Secret.draft({ metadata: { name: "made" }, stringData: { key: "the third secret", token } }),
          ],
          status: { text: plain },
        };
      },
    });
    const metadata = { name: "login", namespace: "default" };
    await s.user.create(Secret, { metadata, stringData: { password } });
    const redact = [
      { kind: Widget, fields: ["spec.text"] },
      { kind: ConfigMap, fields: ["data.token"] },
    ];
    const manager = await s.run(operator, { recorder: { file, redact } });
    await s.widget("w", { text: "a marked text" });
    await s.settle();
    await s.during(manager.stop());
    const text = readFileSync(file, "utf8");
    assert.ok(drawn.length > 0);
    for (const secret of [
      password,
      ...drawn,
      "the second secret",
      "the third secret",
      "a marked field",
      "a marked text",
    ]) {
      assert.ok(!text.includes(secret), secret);
      assert.ok(!text.includes(Buffer.from(secret).toString("base64")), `${secret} in base64`);
    }
    assert.match(text, /https:\/\/me:redacted-[0-9a-f]{8}@example\.com/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    // What depends on a secret's value depends on its placeholder in the same way.
    const all = await replayed(file, operator);
    assert.deepEqual(
      told(all).filter((difference) => !difference.includes("data.token") && !difference.includes("stringData")),
      [],
    );
  }),
);
