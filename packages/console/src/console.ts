import type { Client } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import { ClusterControls, type EmbeddedOptions, isAdministrator } from "./cluster-controls.ts";
import { ClusterSource } from "./cluster-source.ts";
import { loadExploration } from "./exploration-source.ts";
import { History } from "./history.ts";
import { OperatorLogs } from "./operator-logs.ts";
import { OperatorMetrics } from "./operator-metrics.ts";
import type { Hello } from "./protocol.ts";
import { loadRecording } from "./recording-source.ts";
import { loadResults } from "./results-source.ts";
import { Sampler, samplesOf } from "./sampler.ts";
import { serveConsole } from "./server.ts";
import { Stream } from "./stream.ts";

/** What is kept of a cluster: a few hours of a busy one. */
const CLUSTER_LIMITS = { entries: 20_000, characters: 64 * 2 ** 20 };
/** What is kept of a file: the last part of a long one. */
const FILE_LIMITS = { entries: 50_000, characters: 512 * 2 ** 20 };
/** Entries of a cluster that a page is sent at first: the newest. */
const FIRST_ENTRIES = 5000;

interface CommonOptions {
  /** Names the cluster or the recording in the page. */
  readonly title: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Refuse everything that writes. Files are always read-only. */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
}

/**
 * What a console shows: a cluster, with the permissions of the client's user; the recording of an operator; the findings in
 * an `exploration.json` of the fault explorer; or results of benchmarks, which are Markdown files or folders of them.
 */
export type ConsoleOptions = CommonOptions &
  (
    | {
        readonly client: Client;
        /** The cluster, if it is in this process: its time, faults and snapshots are controls of the console then. */
        readonly embedded?: EmbeddedOptions;
      }
    | { readonly recording: string }
    | { readonly exploration: string }
    | { readonly results: readonly string[] }
  );

/** A console that is served. */
export interface Console extends AsyncDisposable {
  /** The link that opens it in a browser. It has the token: anyone with the link can do what the user can. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves a console on a port of this machine.
 *
 * ```ts
 * await using console = await startConsole({ client: cluster.client, title: "demo" });
 * ```
 */
export function startConsole(options: ConsoleOptions): Promise<Console> {
  return "client" in options ? clusterConsole(options, options) : fileConsole(options);
}

async function clusterConsole(
  options: CommonOptions,
  { client, embedded }: { client: Client; embedded?: EmbeddedOptions },
): Promise<Console> {
  const clock = options.clock ?? realClock();
  const readOnly = options.readOnly ?? false;
  const history = new History(CLUSTER_LIMITS);
  const source = new ClusterSource(client, history, clock);
  const logs = new OperatorLogs(client, history, clock);
  const metrics = new OperatorMetrics(client);
  const [user, version] = await Promise.all([
    client.whoAmI().then(
      ({ username }) => username,
      () => undefined,
    ),
    client.version().then(
      ({ gitVersion }) => gitVersion,
      () => undefined,
    ),
  ]);
  const controls =
    embedded && !readOnly && (await isAdministrator(client))
      ? new ClusterControls(embedded, {
          title: options.title,
          clock: client.clock,
          objects: () => history.summaries().length,
          note: (message) =>
            history.add({
              ...{ type: "operator", at: client.clock.now(), operator: "console", pod: "", level: "warn", message },
            }),
          changed: () => stream.hello(hello()),
          open: (title, fork) => startConsole({ client: fork.cluster.client, title, embedded: fork }),
        })
      : undefined;
  const hello = (): Hello => ({
    mode: "cluster",
    title: options.title,
    readOnly,
    ...(user && { user }),
    ...(version && { version }),
    hidden: source.hidden,
    ...(controls && { controls: controls.state() }),
  });
  const sampler = new Sampler(
    client.clock,
    clock,
    metrics,
    () => history.summaries(),
    (sample) => stream.sampled(sample),
  );
  const stream: Stream = new Stream(clock, {
    hello,
    objects: () => history.summaries(),
    entries: () => history.entries.slice(-FIRST_ENTRIES),
    samples: () => sampler.samples,
  });
  let isListed = false;
  source.onHidden = () => stream.hello(hello());
  history.listener = {
    changed: (summary) => {
      if (isListed) logs.observe(summary);
      stream.changed(summary);
    },
    removed: (id) => {
      logs.removed(id);
      metrics.forget(id);
      stream.removed(id);
    },
    added: (entry) => {
      sampler.count(entry);
      stream.added(entry);
    },
  };
  const server = await serveConsole({
    ...{ history, stream, client, clock, readOnly, port: options.port ?? 0 },
    ...(controls && { controls }),
  });
  const close = async () => {
    await controls?.close();
    source.stop();
    logs.stop();
    sampler.stop();
    await server.close();
  };
  try {
    await source.start();
  } catch (error) {
    await close();
    throw error;
  }
  // Logs name objects, which have to be known by then.
  isListed = true;
  for (const summary of history.summaries()) logs.observe(summary);
  sampler.start();
  return { url: server.url, port: server.port, close, [Symbol.asyncDispose]: close };
}

async function fileConsole(
  options: CommonOptions & ({ recording: string } | { exploration: string } | { results: readonly string[] }),
): Promise<Console> {
  const clock = options.clock ?? realClock();
  const history = new History(FILE_LIMITS);
  const hello: Hello = { mode: "recording", title: options.title, readOnly: true, hidden: [] };
  let shown = hello;
  if ("recording" in options) await loadRecording(options.recording, history);
  else if ("results" in options) shown = { ...hello, mode: "results", results: await loadResults(options.results) };
  else shown = { ...hello, mode: "exploration", findings: await loadExploration(options.exploration, history) };
  const samples = samplesOf(history.entries);
  const stream = new Stream(clock, {
    hello: () => shown,
    objects: () => history.summaries(),
    entries: () => history.entries,
    samples: () => samples,
  });
  const server = await serveConsole({ history, stream, clock, readOnly: true, port: options.port ?? 0 });
  return { url: server.url, port: server.port, close: server.close, [Symbol.asyncDispose]: server.close };
}
