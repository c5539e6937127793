import type { Client } from "@konverge/client";
import type { Container, Pod } from "@konverge/kinds";
import type { Run } from "../kubelet/container.ts";
import type { ContainerLog } from "../kubelet/container-log.ts";
import type { Place } from "../kubelet/pod-status.ts";
import { environmentOf, expand } from "./environment.ts";
import { filesOf } from "./files.ts";
import type { Images } from "./image.ts";

/** What programs in pods need of their cluster. */
export interface ProgramHost {
  readonly client: Client;
  readonly images: Images;
  readonly place: Place;
  readonly apiServer: { host: string; port: number; ca: string } | undefined;
}

/** Starts the program that an image is. Undefined when it is none. */
export function startProgram(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  log: ContainerLog,
  ended: (exitCode: number) => void,
): Run | undefined {
  const program = host.images.find(container.image)?.run;
  if (!program) return undefined;
  const stop = new AbortController();
  const killed = new AbortController();
  const run = async () => {
    const env = await environmentOf(host, pod, container);
    const files = await filesOf(host, pod, container);
    const expanded = (words: readonly string[] = []) => words.map((word) => expand(word, env));
    const code = await program({
      pod,
      container,
      command: expanded(container.command),
      args: expanded(container.args),
      env,
      files,
      write: (text) => {
        if (!killed.signal.aborted) log.write(text);
      },
      stop: stop.signal,
      killed: killed.signal,
    });
    return code ?? 0;
  };
  run().then(ended, (error: unknown) => {
    log.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    ended(1);
  });
  return {
    stop: () => stop.abort(),
    kill: () => {
      stop.abort();
      killed.abort();
    },
  };
}
