import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Client } from "@konverge/client";
import { type Clock, type KindRef, type KubeObject, keyOf, readinessOf, realClock, sleep } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { FolderWatch } from "@konverge/runtime";
import { LiveView, type Row } from "../demo/live-view.ts";
import { operatorFile } from "../operators/operator-modules.ts";
import { openArguments } from "../operators/settings.ts";
import type { PermissionsOf } from "../run/generated-role.ts";
import { runOperators } from "../run/run-operators.ts";
import type { Screen } from "../terminal.ts";
import { type Up, up } from "../up/up.ts";
import { OperatorLog } from "./operator-log.ts";
import { applySamples } from "./project-samples.ts";

/** The options of `konverge dev`. */
export interface DevOptions {
  readonly name: string;
  readonly kubeconfig: string;
  readonly data?: string;
  readonly nodes: number;
  readonly gpus: string;
  readonly samples: string;
  readonly console: boolean;
  /** Whose permissions the operators have. */
  readonly permissions: PermissionsOf;
}

export interface DevWorld {
  /** The folder of the project. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stop: AbortSignal;
  readonly screen: Screen;
}

/** Milliseconds between two drawings. */
const PERIOD = 200;
const FOREIGN = /(?:^|[\\/])(?:node_modules|\.git|\.konverge)(?:[\\/]|$)/;

/**
 * Runs a project's operators on a cluster in this process, with its samples, and shows what happens. A change of a source file
 * restarts the operators, one of a sample applies the samples; what fails is shown until it no longer does.
 */
export async function dev(words: readonly string[], options: DevOptions, world: DevWorld): Promise<void> {
  const { folder, screen, stop } = world;
  const clock = realClock();
  // What cannot work at all is said before a cluster is started for it.
  const source = operatorFile(openArguments(words).modules);
  const view = new LiveView(screen);
  const log = new OperatorLog(folder, (who, text) => view.tell(who, text));
  const started = await up({
    ...{ name: options.name, port: 0, host: "127.0.0.1", kubeconfig: resolve(folder, options.kubeconfig) },
    ...{ nodes: options.nodes, gpus: options.gpus, timeScale: 1, operators: "none", console: options.console },
    ...(options.data !== undefined && { data: options.data }),
  });
  try {
    screen.write(introduction(started, options, relative(folder, source)));
    const ended = new AbortController();
    const ends = AbortSignal.any([stop, ended.signal]);
    const samples = new Samples(started.cluster.client, resolve(folder, options.samples), log);
    const drawing = draw(started.cluster.client, { view, log, clock, stop: ends });
    try {
      await runAgain(words, options, world, {
        ...{ log, source, ready: () => void samples.apply() },
        clock: started.cluster.clock,
      });
    } finally {
      ended.abort();
      samples.close();
      await drawing;
    }
  } finally {
    await started.stop();
  }
}

function introduction({ noted, console }: Up, { kubeconfig, samples }: DevOptions, source: string): string {
  return [
    `Cluster ${noted.name} is ready at ${noted.url}. In another terminal:`,
    `  kubectl --kubeconfig ${kubeconfig} get all`,
    ...(console ? ["See it in the browser:", `  ${console.url}`] : []),
    `Running ${source}; change it, or a file in ${samples}/. End it with Ctrl-C.`,
    "",
    "",
  ].join("\n");
}

interface Attempt {
  readonly log: OperatorLog;
  /** The module with the operators. */
  readonly source: string;
  /** The cluster's: when its time is changed in the console, that of the operators is as well. */
  readonly clock: Clock;
  ready(): void;
}

/** Runs the operators until the end. If not even their first version works, the next change starts another attempt. */
async function runAgain(
  words: readonly string[],
  { kubeconfig, permissions }: DevOptions,
  { folder, env, stop }: DevWorld,
  { log, source, clock, ready }: Attempt,
): Promise<void> {
  // The connection is that of the cluster, whatever the environment says about another one.
  const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: __, ...own } = env;
  const run = { watch: true, install: true, webhooks: "on", webhookHost: "127.0.0.1", webhookPort: 0 } as const;
  while (!stop.aborted) {
    try {
      await runOperators(
        words,
        { ...run, permissions, logLevel: "debug", kubeconfig: resolve(folder, kubeconfig) },
        {
          env: own,
          stop,
          clock,
          write: (text) => log.write(text),
          ready: () => {
            log.restarted();
            ready();
          },
        },
      );
      return;
    } catch (error) {
      if (stop.aborted) throw error;
      log.report("start", error);
      await change(resolve(source, ".."), stop);
    }
  }
}

/** Resolves when something in a folder has changed. */
function change(folder: string, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const watch = new FolderWatch({ folder, excluded: FOREIGN, changed: () => end(resolve), failed: reject });
    const end = (settle: () => void) => {
      watch.close();
      settle();
    };
    stop.addEventListener("abort", () => end(resolve), { once: true });
  });
}

/** Applies the samples, and again when one of them changes. */
class Samples {
  readonly #client: Client;
  readonly #folder: string;
  readonly #log: OperatorLog;
  readonly #watch: FolderWatch | undefined;
  #work: Promise<void> = Promise.resolve();
  #isReady = false;

  constructor(client: Client, folder: string, log: OperatorLog) {
    this.#client = client;
    this.#folder = folder;
    this.#log = log;
    if (!existsSync(folder)) return;
    const changed = () => void (this.#isReady && this.apply());
    this.#watch = new FolderWatch({ folder, excluded: FOREIGN, changed, failed: () => {} });
  }

  apply(): Promise<void> {
    this.#isReady = true;
    const report = (file: string, error: unknown) => this.#log.report(join("samples", file), error);
    this.#work = this.#work.then(() => applySamples(this.#client, this.#folder, report));
    return this.#work;
  }

  close(): void {
    this.#watch?.close();
  }
}

interface Drawing {
  readonly view: LiveView;
  readonly log: OperatorLog;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

async function draw(client: Client, { view, log, clock, stop }: Drawing): Promise<void> {
  while (!stop.aborted) {
    const rows = await rowsOf(client).catch(() => undefined);
    if (rows) view.show(rows, log.activities, log.problems);
    await sleep(clock, PERIOD, { signal: stop }).catch(() => {});
  }
}

/** All objects of custom kinds, with how far they are. */
async function rowsOf(client: Client): Promise<Row[]> {
  const { items } = await client.list(CustomResourceDefinition);
  const rows: Row[] = [];
  for (const { spec } of items) {
    const { name: version } = spec.versions.find(({ storage }) => storage)!;
    const { kind, plural } = spec.names;
    const ref: KindRef<KubeObject> = {
      group: spec.group,
      version,
      kind,
      plural,
      namespaced: spec.scope === "Namespaced",
    };
    for (const object of (await client.list(ref)).items) {
      const { status, message } = readinessOf(object, client.clock.now());
      rows.push({ name: `${kind} ${keyOf(object)}`, done: status === "Current", message: message || status });
    }
  }
  return rows;
}
