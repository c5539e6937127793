import type { Container, Pod } from "@konverge/kinds";
import type { ContainerLog } from "./container-log.ts";
import type { ContainerSpace } from "./container-space.ts";
import { environmentOf, expand } from "./environment.ts";
import { filesOf } from "./files.ts";
import type { Program } from "./image.ts";
import { LiveFiles } from "./live-files.ts";
import { PodTokens } from "./pod-tokens.ts";
import type { ProgramHost, ProgramSite } from "./program-site.ts";
import type { ContainerStreams, EndedRun, Run } from "./run.ts";

/** Where a program is heard. */
export interface ProgramOutput {
  readonly log: ContainerLog;
  /** Records a Warning event of its pod. */
  warn(reason: string, message: string): void;
}

/** A program in its container. */
export interface ProgramRun extends Run {
  /** Resolves when the program has ended and everything created for it is deleted. */
  readonly over: Promise<void>;
}

/** Starts the program that an image is. Undefined when it is none. */
export function startProgram(
  site: ProgramSite,
  pod: Pod,
  container: Container,
  output: ProgramOutput,
  ended: (exitCode: number) => void,
): ProgramRun | undefined {
  const program = site.images.find(container.image)?.run;
  if (!program) return undefined;
  const stop = new AbortController();
  const killed = new AbortController();
  const host: ProgramHost = { ...site, tokens: new PodTokens(site.client, site.clock, pod) };
  let current = pod;
  const volumes = environmentOf(host, pod, container).then((env) => ({
    env,
    files: new LiveFiles(site.clock, () => filesOf(host, current, container, env)),
  }));
  const signals = { stop: stop.signal, killed: killed.signal };
  const over = inContainer(host, pod, container, program, output, volumes, signals).then(ended, (error: unknown) => {
    output.log.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    ended(1);
  });
  return {
    stop: () => stop.abort(),
    kill: () => {
      stop.abort();
      killed.abort();
    },
    refreshVolumes: (changed) => {
      current = changed;
      void volumes.then(({ files }) => files.refresh()).catch(() => {});
    },
    over,
  };
}

/** Runs what a container says in its simulated userland. */
export function startInside(
  opened: Promise<ContainerSpace>,
  { log, stdin }: ContainerStreams,
  ended: EndedRun,
): ProgramRun {
  const stop = new AbortController();
  const kill = new AbortController();
  const write = (text: string | Uint8Array) => {
    if (!kill.signal.aborted) log.write(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
  };
  const over = opened.then(
    async ({ userland, argv, terminationMessage, limits }) => {
      const signals = { stop: stop.signal, kill: kill.signal };
      const status = await userland.run(argv, { stdin, stdout: write, stderr: write }, signals);
      ended(status, terminationMessage(), limits.memory.isKilled ? "OOMKilled" : undefined);
    },
    (error: unknown) => {
      write(`${error instanceof Error ? error.message : String(error)}\n`);
      ended(CANNOT_START, error instanceof Error ? error.message : String(error));
    },
  );
  return { stop: () => stop.abort(), kill: () => kill.abort(), over };
}

/** The exit code of a container that could not be started. */
const CANNOT_START = 128;

async function inContainer(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  program: Program,
  { log, warn }: ProgramOutput,
  opened: Promise<{ env: Readonly<Record<string, string>>; files: LiveFiles }>,
  { stop, killed }: { stop: AbortSignal; killed: AbortSignal },
): Promise<number> {
  const { env, files: volumes } = await opened;
  const withdrawals: (() => void)[] = [];
  try {
    await volumes.open();
    const expanded = (words: readonly string[] = []) => words.map((word) => expand(word, env));
    const code = await program({
      pod,
      container,
      command: expanded(container.command),
      args: expanded(container.args),
      env,
      files: volumes.files,
      folder: () => volumes.folder(),
      expose: (port, ...addresses) => {
        if (!killed.aborted) withdrawals.push(host.exposed.expose(pod.metadata.uid ?? "", port, addresses));
      },
      write: (text) => {
        if (!killed.aborted) log.write(text);
      },
      warn,
      stop,
      killed,
    });
    return code ?? 0;
  } finally {
    for (const withdraw of withdrawals) withdraw();
    await volumes.close();
  }
}
