import type { Client } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import { ClusterSource } from "./cluster-source.ts";
import { loadExploration } from "./exploration-source.ts";
import { History } from "./history.ts";
import { OperatorLogs } from "./operator-logs.ts";
import { OperatorMetrics } from "./operator-metrics.ts";
import type { Hello } from "./protocol.ts";
import { loadRecording } from "./recording-source.ts";
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
 * What a console shows: a cluster, with the permissions of the client's user; the recording of an operator; or the findings in
 * an `exploration.json` of the fault explorer.
 */
export type ConsoleOptions = CommonOptions &
  ({ readonly client: Client } | { readonly recording: string } | { readonly exploration: string });

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
  return "client" in options ? clusterConsole(options, options.client) : fileConsole(options);
}

async function clusterConsole(options: CommonOptions, client: Client): Promise<Console> {
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
  const hello = (): Hello => ({
    mode: "cluster",
    title: options.title,
    readOnly,
    ...(user && { user }),
    ...(version && { version }),
    hidden: source.hidden,
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
  const server = await serveConsole({ history, stream, client, clock, readOnly, port: options.port ?? 0 });
  const close = async () => {
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
  options: CommonOptions & ({ recording: string } | { exploration: string }),
): Promise<Console> {
  const clock = options.clock ?? realClock();
  const history = new History(FILE_LIMITS);
  const hello: Hello = { mode: "recording", title: options.title, readOnly: true, hidden: [] };
  let shown = hello;
  if ("recording" in options) await loadRecording(options.recording, history);
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
