import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { Client } from "@konverge/client";
import { VirtualClock } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import {
  controller,
  httpEndpoints,
  Metrics,
  type Observer,
  PermanentError,
  type ProcessLogOptions,
  processLog,
  type ReconcileContext,
  type ReconcileResult,
  serveHttp,
  tracing,
} from "@konverge/runtime";
import { type ContextManager, context, ROOT_CONTEXT, type Span, type Tracer, trace } from "@opentelemetry/api";
import { configMap, type Stage, stage, Widget } from "./stage.ts";

const widgets = (reconcile?: (widget: Widget, context: ReconcileContext) => ReconcileResult<Widget>) =>
  controller(Widget, {
    owns: [ConfigMap],
    concurrency: 3,
    reconcile: reconcile ?? ((widget) => ({ children: widget.spec.maps.map((name) => configMap(name, { a: "1" })) })),
  });

const metricsOf = (s: Stage) => new Metrics({ clock: s.clock, process: false });

async function value(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const C = 'controller="widgets.example.com"';
const Q = `name="widgets.example.com",${C}`;

test("all series of a controller exist, at 0, before anything happens", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  await s.run(widgets(), { observers: [metrics], leaderElection: { name: "lead" } });
  for (const series of [
    `controller_runtime_reconcile_total{${C},result="error"}`,
    `controller_runtime_reconcile_total{${C},result="requeue_after"}`,
    `controller_runtime_reconcile_errors_total{${C}}`,
    `controller_runtime_terminal_reconcile_errors_total{${C}}`,
    `controller_runtime_reconcile_panics_total{${C}}`,
    `controller_runtime_reconcile_timeouts_total{${C}}`,
    `controller_runtime_reconcile_time_seconds_count{${C}}`,
    `controller_runtime_active_workers{${C}}`,
    `workqueue_depth{${Q},priority="-100"}`,
    `workqueue_depth{${Q},priority="0"}`,
    `workqueue_depth{${Q},priority="100"}`,
    `workqueue_adds_total{${Q}}`,
    `workqueue_retries_total{${Q}}`,
    `workqueue_queue_duration_seconds_count{${Q}}`,
    `workqueue_work_duration_seconds_count{${Q}}`,
    `workqueue_unfinished_work_seconds{${Q}}`,
    `workqueue_longest_running_processor_seconds{${Q}}`,
  ]) {
    assert.equal(await value(metrics, series), 0, series);
  }
  assert.equal(await value(metrics, `controller_runtime_max_concurrent_reconciles{${C}}`), 3);
  assert.equal(await value(metrics, 'leader_election_master_status{name="lead"}'), 1);
});

test("reconciles, their ends, the queue and the cache are counted", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  let failures = 2;
  const operator = widgets((widget) => {
    if (widget.metadata.name === "mistaken") throw new PermanentError("Wrong", "the spec makes no sense");
    if (failures-- > 0) return (undefined as unknown as { no: ReconcileResult<Widget> }).no;
    return { children: [configMap("a", { a: "1" })] };
  });
  await s.run(operator, { observers: [metrics] });
  await s.widget("w");
  await s.settle();
  await s.widget("mistaken");
  await s.settle();
  assert.equal(await value(metrics, `controller_runtime_reconcile_total{${C},result="error"}`), 3);
  assert.equal(await value(metrics, `controller_runtime_reconcile_errors_total{${C}}`), 3);
  assert.equal(await value(metrics, `controller_runtime_reconcile_panics_total{${C}}`), 2);
  assert.equal(await value(metrics, `controller_runtime_terminal_reconcile_errors_total{${C}}`), 1);
  assert.equal(await value(metrics, `workqueue_retries_total{${Q}}`), 2);
  const reconciles = (await value(metrics, `controller_runtime_reconcile_time_seconds_count{${C}}`)) ?? 0;
  assert.ok(reconciles >= 4);
  assert.equal(await value(metrics, `workqueue_adds_total{${Q}}`), reconciles);
  assert.equal(await value(metrics, 'konverge_cache_objects{cluster="home",kind="Widget",namespace=""}'), 2);
  assert.ok((await value(metrics, 'konverge_cache_bytes{cluster="home",kind="Widget",namespace=""}'))! > 100);
  assert.equal(await value(metrics, 'konverge_watch_synced{cluster="home",kind="ConfigMap",namespace=""}'), 1);
});

test("the objects that a daemon runs for are counted, those it has finished with are not", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  const follow = {
    run: async ({ metadata: { name } }: Widget, { sleep }: { sleep: (ms: number) => Promise<void> }) => {
      while (name !== "short") await sleep(1_000);
    },
  };
  await s.run(controller(Widget, { daemons: { follow }, reconcile: () => ({}) }), { observers: [metrics] });
  const running = () => value(metrics, `konverge_daemons_running{${C},daemon="follow"}`);
  assert.equal(await running(), 0);
  for (const name of ["one", "two", "short"]) await s.widget(name);
  await s.settle();
  assert.equal(await running(), 2);
  await s.user.delete(Widget, "default/one");
  await s.settle();
  assert.equal(await running(), 1);
});

test("a reconcile that takes longer than its deadline is counted as one", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  const hanging = controller(Widget, { deadline: 1_000, reconcile: () => new Promise<undefined>(() => {}) });
  await s.run(hanging, { observers: [metrics] });
  await s.widget("w");
  await s.clock.advance(8_000);
  const timeouts = await value(metrics, `controller_runtime_reconcile_timeouts_total{${C}}`);
  assert.ok(timeouts! >= 1, `${timeouts}`);
});

test("every request of a client is counted by its answer", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  const client = new Client(metrics.transport("here")(s.server.transport), { clock: s.clock });
  await client.list(ConfigMap);
  await assert.rejects(client.get(ConfigMap, "nowhere"));
  assert.equal(await value(metrics, 'rest_client_requests_total{code="200",method="GET",host="here"}'), 1);
  assert.equal(await value(metrics, 'rest_client_requests_total{code="404",method="GET",host="here"}'), 1);
  assert.equal(await value(metrics, 'rest_client_request_duration_seconds_count{verb="GET",host="here"}'), 2);
});

test("a reconcile is one line: trigger, reads, writes, outcome; and no line shows data", async () => {
  const s = await stage();
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = processLog({ clock: s.clock, destination, env: { LOG_LEVEL: "debug" } });
  const operator = controller(Widget, {
    owns: [ConfigMap],
    reconcile: (widget, { observed }) => {
      const map = configMap("a", { password: `hidden ${widget.spec.text}` });
      observed(map);
      return { children: [map] };
    },
  });
  await s.run(operator, { log });
  await s.widget("w");
  await s.settle();
  const [first] = lines.filter(({ outcome }) => outcome === "done");
  assert.deepEqual(first?.["triggers"], ["object Widget default/w"]);
  const [object, child] = first!["reads"] as string[];
  assert.match(object!, /^Widget default\/w@\d+$/);
  assert.equal(child, "ConfigMap default/a@absent");
  assert.deepEqual(first?.["writes"], ["apply ConfigMap default/a", "apply Widget/status default/w"]);
  assert.equal(first?.["object"], "default/w");
  assert.equal(first?.["level"], "info");
  assert.equal(typeof first?.["durationMs"], "number");
  assert.ok(lines.every((line) => !JSON.stringify(line).includes("hidden")));
});

test("the level of a log can be changed while it runs, for its children as well", async () => {
  const lines: string[] = [];
  const log = processLog({ destination: { write: (line) => void lines.push(line) }, env: {} });
  const child = log.child({ part: "one" });
  child.debug({}, "unheard");
  log.level = "debug";
  child.debug({}, "heard");
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /"part":"one".*heard/);
  assert.throws(() => processLog({ env: { LOG_LEVEL: "loud" } }), /no log level loud: use one of trace/);
});

test("a log is JSON unless it goes to a terminal or text is requested; the level may come from the environment", () => {
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2) });
  const logged = (options: ProcessLogOptions) => {
    const lines: string[] = [];
    const log = processLog({ clock, destination: { write: (line) => void lines.push(line) }, ...options });
    log.child({ object: "default/w" }).debug({}, "reconcile done");
    return lines.join("");
  };
  assert.deepEqual(JSON.parse(logged({ level: "debug", env: {} })), {
    level: "debug",
    time: "2026-01-02T00:00:00.000Z",
    object: "default/w",
    msg: "reconcile done",
  });
  const env = { LOG_LEVEL: "debug" };
  assert.equal(logged({ format: "text", env }), "00:00:00.000 DEBUG reconcile done object=default/w\n");
  assert.equal(logged({ format: "text", env: {} }), "");
});

test("a process is ready when all is listed and no watch is stale", async () => {
  const s = await stage();
  const metrics = metricsOf(s);
  const log = processLog({ destination: { write() {} }, env: {} });
  const manager = s.manager(widgets(), { observers: [metrics] });
  const ask = httpEndpoints({ manager, metrics, log, stale: 60_000 });
  const get = async (path: string) => {
    const { status, body } = await ask({ method: "GET", path, headers: {} });
    return `${status} ${String(body).trim()}`;
  };
  assert.match(await get("/readyz"), /^503 manager: not listed yet: Widget\.example\.com, ConfigMap$/);
  assert.equal(await get("/healthz"), "200 ok");
  await s.during(manager.start());
  assert.equal(await get("/readyz"), "200 ok");
  s.interfere = () => new Promise(() => {});
  await s.clock.advance(1_200_000);
  assert.match(await get("/readyz"), /^503 manager: nothing received for 60000 ms: Widget\.example\.com/);
  assert.match(await get("/metrics"), /workqueue_depth/);
  assert.equal(await get("/loglevel"), "200 info");
  await ask({ method: "PUT", path: "/loglevel", headers: {}, body: "debug" });
  assert.equal(log.level, "debug");
  assert.equal((await ask({ method: "PUT", path: "/loglevel", headers: {}, body: "loud" })).status, 400);
  assert.equal((await ask({ method: "GET", path: "/nowhere", headers: {} })).status, 404);
});

test("the level of the log is changed over the loopback interface only, and by its names", async () => {
  const log = processLog({ level: "info", env: {} });
  const s = await stage();
  const ask = httpEndpoints({ manager: s.manager(widgets()), log });
  const put = async (remoteAddress: string, host: string) =>
    (await ask({ method: "PUT", path: "/loglevel", headers: { host }, body: "debug", remoteAddress })).status;
  for (const [address, host] of [
    ["10.1.2.3", "localhost:8080"],
    ["", "localhost:8080"],
    ["::ffff:10.1.2.3", "127.0.0.1"],
    ["127.0.0.1", "rebound.example.com:8080"],
    ["127.0.0.1", "localhost.example.com"],
  ] as const) {
    assert.equal(await put(address, host), 403);
  }
  assert.equal(log.level, "info");
  assert.equal(await put("::ffff:127.0.0.1", "localhost:8080"), 200);
  assert.equal(log.level, "debug");
});

test("a replica that stands by for the lease is ready", async () => {
  const s = await stage();
  const leader = { name: "op", namespace: "default" };
  await s.run(widgets(), { leaderElection: leader });
  const second = await s.run(widgets(), { leaderElection: leader });
  const ask = httpEndpoints({ manager: second });
  assert.equal(second.standby, true);
  assert.equal((await ask({ method: "GET", path: "/readyz", headers: {} })).status, 200);
});

test("the endpoints are served on a port", async () => {
  await using serving = await serveHttp(async ({ path }) => ({ status: 200, headers: {}, body: `at ${path}` }), {
    port: 0,
    host: "127.0.0.1",
  });
  const answer = await fetch(`http://127.0.0.1:${serving.port}/x?y=1`);
  assert.equal(await answer.text(), "at /x?y=1");
});

interface Told {
  name: string;
  parent: string | undefined;
  ended: boolean;
  failed: boolean;
}

/** Keeps spans in a list. */
function tellingTracer(spans: Told[]): Tracer {
  const startSpan: Tracer["startSpan"] = (name, options, parentContext = context.active()) => {
    const parent = options?.root ? undefined : (trace.getSpan(parentContext) as unknown as { told?: Told })?.told;
    const told: Told = { name, parent: parent?.name, ended: false, failed: false };
    spans.push(told);
    const span = {
      told,
      isRecording: () => true,
      addEvent: () => span,
      setAttributes: () => span,
      setStatus: () => {
        told.failed = true;
        return span;
      },
      recordException() {},
      end: () => {
        told.ended = true;
      },
    } as unknown as Span;
    return span;
  };
  return { startSpan } as Tracer;
}

/** The least that carries a context through asynchronous calls. */
function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<ReturnType<typeof context.active>>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.call(self as never, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

test("a reconcile is a trace: the trigger, in it the reconcile, in it each call and what the reconciler does", async () => {
  context.setGlobalContextManager(contextManager());
  const s = await stage();
  const spans: Told[] = [];
  const tracer = tellingTracer(spans);
  const observer: Observer = tracing({ tracer, clock: s.clock });
  const operator = widgets(() => {
    tracer.startSpan("mine").end();
    return { children: [configMap("a", { a: "1" })] };
  });
  await s.run(operator, { observers: [observer] });
  await s.widget("w");
  await s.settle();
  const first = spans.slice(0, 4).map(({ name, parent }) => `${parent ?? "-"} > ${name}`);
  assert.deepEqual(first, [
    "- > widgets.example.com object",
    "widgets.example.com object > reconcile widgets.example.com",
    "reconcile widgets.example.com > mine",
    "reconcile widgets.example.com > apply ConfigMap",
  ]);
  assert.ok(spans.every(({ ended, failed }) => ended && !failed));
  context.disable();
});
