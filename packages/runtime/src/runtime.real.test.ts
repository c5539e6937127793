import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fnv1a32, isConflict, type KindRef, type KubeObject } from "@konverge/core";
import * as kinds from "@konverge/kinds";
import { ConfigMap } from "@konverge/kinds";
import { findControlPlane } from "@konverge/real";
import { builtinDrafts } from "../test/builtin-drafts.ts";
import { cuttableProxy } from "../test/cuttable-proxy.ts";
import { pause, RealOperators, type RunningOperator, times, until, Widget } from "../test/real-operators.ts";
import { type Controller, type ControllerOptions, controller, ownedKind } from "./index.ts";

const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);
const options = { skip: plane.available ? false : plane.why };
/** How many objects to try it with, and for how many seconds the network is cut. */
const scale = Number(process.env.KONVERGE_SCALE ?? 300);
const cutSeconds = Number(process.env.KONVERGE_CUT ?? 15);

let real: RealOperators;
before(async () => {
  if (plane.available) real = await RealOperators.start(kubernetes);
});
after(() => real?.stop());

/** A ConfigMap of the same name and text for each Widget, and the text in the status. */
function copies(namespace: string, more: Partial<ControllerOptions<Widget>> = {}): Controller {
  return controller(Widget, {
    name: "copies",
    namespaces: [namespace],
    owns: [ConfigMap],
    reconcile: ({ metadata, spec }) => ({
      children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { text: spec.text } })],
      status: { text: spec.text },
    }),
    ...more,
  } as ControllerOptions<Widget>);
}

/** Every Widget has its copy and says so. */
async function converged(namespace: string, texts: ReadonlyMap<string, string>): Promise<boolean> {
  const maps = new Map(
    (await real.user.list(ConfigMap, { namespace })).items.map((map) => [map.metadata.name, map.data]),
  );
  const widgets = (await real.user.list(Widget, { namespace })).items;
  return (
    widgets.length === texts.size &&
    widgets.every(({ metadata, status }) => {
      const text = texts.get(metadata.name);
      return status?.text === text && maps.get(metadata.name)?.["text"] === text;
    })
  );
}

test("an apply with a version that no object has creates, and fails if there is one", options, async () => {
  await real.namespace("create-only");
  const draft = { metadata: { name: "a", namespace: "create-only", resourceVersion: "1" }, data: { a: "1" } };
  const made = await real.user.apply(ConfigMap, draft, { fieldManager: "me" });
  assert.equal(made.metadata.managedFields?.[0]?.operation, "Apply");
  const again = real.user.apply(ConfigMap, { ...draft, data: { a: "2" } }, { fieldManager: "me", force: true });
  await assert.rejects(again, isConflict);
});

test("children of all usual kinds are written once, and not again after a restart", options, async () => {
  await real.namespace("kinds");
  const drafts = builtinDrafts("child");
  const handles = new Map(Object.entries(kinds));
  const owns = drafts.map(({ kind }) => handles.get(kind) as KindRef<KubeObject>);
  const all = copies("kinds", { owns, reconcile: () => ({ children: builtinDrafts("child"), status: { text: "x" } }) });
  const perChild = new Map<string, number>();
  {
    await using first = await real.operator(all);
    await real.widget("kinds", "w");
    await real.quiet(first);
    const refused = first.writes().filter(({ code }) => code >= 300);
    assert.deepEqual(
      refused.map(({ uri, code }) => `${code} ${uri}`),
      [],
    );
    for (const { uri } of first.writes()) {
      const path = uri.split("?")[0]!;
      perChild.set(path, (perChild.get(path) ?? 0) + 1);
    }
  }
  assert.equal(perChild.size, drafts.length + 1);
  assert.deepEqual(
    [...perChild].filter(([path, count]) => count > 1 && !path.endsWith("/status")),
    [],
  );
  await using second = await real.operator(all);
  await real.quiet(second);
  assert.deepEqual(
    second.writes().map(({ uri }) => uri),
    [],
  );
});

test("a child with a field that cannot be changed is replaced, with or without what it owns", options, async () => {
  await real.namespace("immutable");
  const labels = { app: "x" };
  const template = (image: string, restartPolicy: "Always" | "Never"): kinds.PodTemplateSpec => ({
    metadata: { labels },
    spec: { restartPolicy, containers: [{ name: "m", image }] },
  });
  await using _ = await real.operator(
    copies("immutable", {
      owns: [
        ownedKind(kinds.Job, { onImmutable: "recreate" }),
        ownedKind(kinds.StatefulSet, { onImmutable: "orphan" }),
      ],
      reconcile: ({ spec }) => ({
        children: [
          kinds.Job.draft({ metadata: { name: "job" }, spec: { template: template(spec.text, "Never") } }),
          kinds.StatefulSet.draft({
            metadata: { name: "set" },
            spec: { serviceName: spec.text, selector: { matchLabels: labels }, template: template("x", "Always") },
          }),
        ],
        status: { text: spec.text },
      }),
    }),
  );
  await real.widget("immutable", "w", "one");
  const pods = async (owner: string) => {
    const { items } = await real.user.list(kinds.Pod, { namespace: "immutable" });
    return items
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === owner)
      .map(({ metadata }) => metadata.uid);
  };
  await until(
    "both have pods",
    async () => (await pods("Job")).length === 1 && (await pods("StatefulSet")).length === 1,
  );
  const [jobPod, setPod] = [(await pods("Job"))[0], (await pods("StatefulSet"))[0]];
  await real.user.patch(Widget, "immutable/w", { merge: { spec: { text: "two" } } });
  const isNew = async () => {
    const job = await real.user.get(kinds.Job, "immutable/job").catch(() => undefined);
    const set = await real.user.get(kinds.StatefulSet, "immutable/set").catch(() => undefined);
    return job?.spec?.template.spec?.containers[0]?.image === "two" && set?.spec?.serviceName === "two";
  };
  await until("both are new", isNew);
  await until("the new job has a new pod", async () => {
    const [pod] = await pods("Job");
    return pod !== undefined && pod !== jobPod;
  });
  assert.deepEqual(await pods("StatefulSet"), [setPod]);
});

test("events show up where people look for them", options, async () => {
  await real.namespace("events");
  await using _ = await real.operator(
    copies("events", {
      owns: [],
      reconcile({ spec }, { events }) {
        events.warning("Odd", `the text is ${spec.text}`, { action: "Read" });
        return { status: { text: spec.text } };
      },
    }),
  );
  await real.widget("events", "w", "1");
  const told = async (...command: string[]) => (await real.cluster.kubectl([...command, "-n", "events"])).stdout;
  await until("it is listed", async () => (await told("get", "events")).includes("the text is 1"));
  await pause(1100);
  await real.user.patch(Widget, "events/w", { merge: { spec: { text: "2" } } });
  await until("the next one is listed", async () => (await told("get", "events")).includes("the text is 2"));
  const lines = (await told("get", "events", "--sort-by=.lastTimestamp")).trim().split("\n");
  assert.match(lines.at(-1)!, /Warning\s+Odd\s+widget\/w\s+the text is 2/);
  assert.doesNotMatch(lines.at(-1)!, /<unknown>/);
  assert.match(await told("describe", "widgets", "w"), /Warning\s+Odd\s+.*copies\s+the text is 2/);
  const stored = (await real.user.list(kinds.Event, { namespace: "events" })).items;
  assert.ok(
    stored.every(({ eventTime, reportingComponent, action }) => eventTime && reportingComponent && action === "Read"),
  );
});

test(
  "exactly the necessary writes are made, and none after a restart, which reads nothing but the lists",
  options,
  async () => {
    await real.namespace("restart");
    await times(scale, (i) => real.widget("restart", `w${i}`, "1"));
    const texts = new Map(Array.from({ length: scale }, (_, i) => [`w${i}`, "1"]));
    {
      await using first = await real.operator(copies("restart"));
      await until("all is converged", () => converged("restart", texts), 60_000 + scale * 50, 50 + scale / 2);
      await real.quiet(first, 1500 + scale, 50 + scale / 4);
      assert.equal(first.writes().length, 2 * scale);
    }
    await using second = await real.operator(copies("restart"));
    await real.quiet(second, 1500 + scale, 50 + scale / 4);
    assert.deepEqual(
      second.requests().map(({ verb }) => verb),
      ["watch", "watch"],
    );
  },
);

test("it converges after the API server was killed and started again, under load", options, async () => {
  await real.namespace("killed");
  const texts = new Map<string, string>();
  await using _ = await real.operator(copies("killed"));
  await times(50, (i) => real.widget("killed", `w${i}`, "1"));
  await real.cluster.restartApiServer();
  await times(50, async (i) => {
    await until("the user's request is served", () =>
      real.user.patch(Widget, `killed/w${i}`, { merge: { spec: { text: "2" } } }).then(
        () => true,
        () => false,
      ),
    );
    texts.set(`w${i}`, "2");
  });
  await until("all is converged", () => converged("killed", texts));
});

test("it lists again when the server has forgotten where it was", options, async () => {
  await real.namespace("compacted");
  await using operator = await real.operator(copies("compacted"));
  await real.widget("compacted", "w", "1");
  await until("it is converged", () => converged("compacted", new Map([["w", "1"]])));
  // Other kinds move the version on, so that the watch of Widgets is behind when the server starts with an empty memory.
  await times(100, (i) => real.user.create(kinds.Secret, { metadata: { name: `s${i}`, namespace: "compacted" } }));
  await real.cluster.etcd.compact();
  await real.cluster.restartApiServer();
  await real.user.patch(Widget, "compacted/w", { merge: { spec: { text: "2" } } });
  await until("it is converged again", () => converged("compacted", new Map([["w", "2"]])));
  assert.ok(operator.requests().filter(({ verb }) => verb === "watch" || verb === "list").length > 2);
});

test("it catches up after its network was cut, deletions included", options, async () => {
  await real.namespace("cut");
  const proxy = await cuttableProxy(new URL(real.cluster.url));
  try {
    await using _ = await real.operator(copies("cut"), { port: proxy.port });
    await times(20, (i) => real.widget("cut", `w${i}`, "1"));
    const texts = new Map(Array.from({ length: 20 }, (_, i) => [`w${i}`, "1"]));
    await until("all is converged", () => converged("cut", texts));
    proxy.cut();
    await real.user.delete(ConfigMap, "cut/w0");
    await real.user.patch(ConfigMap, "cut/w1", { merge: { data: { text: "spoilt" } } });
    await real.user.delete(Widget, "cut/w2");
    texts.delete("w2");
    await real.user.patch(Widget, "cut/w3", { merge: { spec: { text: "2" } } });
    texts.set("w3", "2");
    await pause(cutSeconds * 1000);
    proxy.restore();
    await until("all is converged again", () => converged("cut", texts), 180_000);
  } finally {
    proxy.close();
  }
});

test("hot keys and poison objects do not hold up the others", options, async () => {
  await real.namespace("hot");
  const seen: string[] = [];
  await using _ = await real.operator(
    copies("hot", {
      concurrency: 2,
      reconcile({ metadata, spec }) {
        if (metadata.name.startsWith("poison")) throw new Error("poison");
        seen.push(metadata.name);
        return { status: { text: spec.text } };
      },
    }),
  );
  await times(10, (i) => real.widget("hot", `poison${i}`));
  await real.widget("hot", "hot");
  const heat = times(300, (i) => real.user.patch(Widget, "hot/hot", { merge: { spec: { text: String(i) } } }));
  await times(30, (i) => real.widget("hot", `w${i}`));
  await until("the others had their turn", () => new Set(seen).size === 31, 30_000);
  await heat;
  const { text } = (await real.user.get(Widget, "hot/hot")).spec;
  await until("the hot one is up to date", async () => (await real.user.get(Widget, "hot/hot")).status?.text === text);
});

for (const [what, election] of [
  ["leaders change", { leaderElection: { name: "op", namespace: "election", duration: 3000 } }],
  ["shards are handed over", { sharding: { name: "op", namespace: "election", duration: 3000, parts: 8 } }],
] as const) {
  test(`no key has two actors when ${what} under load, as the server's own log shows`, options, async () => {
    const namespace = what.replaceAll(" ", "-");
    if (what === "leaders change") await real.namespace("election");
    await real.namespace(namespace);
    await times(20, (i) => real.widget(namespace, `w${i}`, "0"));
    await using all = new AsyncDisposableStack();
    const operators: RunningOperator[] = [];
    const join = async () => void operators.push(all.use(await real.operator(copies(namespace), election)));
    await join();
    const texts = new Map<string, string>();
    for (let round = 1; round <= 24; round++) {
      await times(20, async (i) => {
        await real.user.patch(Widget, `${namespace}/w${i}`, { merge: { spec: { text: String(round) } } });
        texts.set(`w${i}`, String(round));
      });
      if (round === 4 || round === 8) await join();
      if (round === 12 || round === 18) await operators[round === 12 ? 0 : 1]!.manager.stop();
      await pause(400);
    }
    await until("all is converged", () => converged(namespace, texts));
    const writes = operators
      .flatMap((operator, who) => operator.writes().map((write) => ({ ...write, who })))
      .sort((a, b) => a.received - b.received);
    const acts = writes.filter(({ uri }) => uri.includes(`/namespaces/${namespace}/`));
    const leaseOf = (key: string) => ("shards" in election ? `op-part-${fnv1a32(`${namespace}/${key}`) % 8}` : "op");
    /** On a slow machine a lease can expire and be acquired again: only then can a replica return to a key. */
    const hasWon = (who: number, key: string, after: number, before: number) =>
      writes.some(
        (write) =>
          write.who === who &&
          write.code < 300 &&
          write.uri.split("?")[0]!.endsWith(`/leases/${leaseOf(key)}`) &&
          write.received > after &&
          write.answered < before,
      );
    assert.ok(new Set(acts.map(({ who }) => who)).size > 1, "only one of them ever acted");
    const lastOf = new Map<string, { who: number; answered: number; before: Set<number> }>();
    for (const { uri, who, received, answered } of acts) {
      const key = /\/(w\d+)[/?]/.exec(uri)![1]!;
      const last = lastOf.get(key) ?? { who, answered, before: new Set() };
      assert.ok(last.who === who || last.answered < received, `two acted on ${key} at the same time`);
      const isBack = last.who !== who && last.before.has(who);
      assert.ok(
        !isBack || hasWon(who, key, last.answered, received),
        `a replica acted on ${key} again after another had acquired it`,
      );
      if (last.who !== who) last.before.add(last.who);
      lastOf.set(key, { ...last, who, answered });
    }
  });
}
