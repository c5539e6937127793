import { type ApiResponse, badRequest } from "@konverge/core";
import type { ExecSession, Image } from "../images/image.ts";
import type { SimulatedContainer } from "../kubelet/container.ts";
import type { ContainerRuntime } from "../kubelet/container-runtime.ts";
import type { PodWorker } from "../kubelet/pod-worker.ts";
import { type PairedSocket, socketPair } from "../streams/socket-pair.ts";
import { channelsOverSpdy, SPDY } from "../streams/spdy-channels.ts";
import { chosenContainer, linesFrom, textOf } from "./logs.ts";

const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"];
/** In these the last channel has a Status; in older ones words, and those only for what went wrong. */
const WITH_STATUS = new Set(["v5.channel.k8s.io", "v4.channel.k8s.io"]);
const OVER_SPDY = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"];
const [STDIN, STDOUT, STDERR, OUTCOME, , CLOSE] = [0, 1, 2, 3, 4, 255];

/** What a stream to a container needs to know of its cluster. */
export interface StreamHost {
  readonly containerRuntime: ContainerRuntime;
  image(reference: string | undefined): Image | undefined;
}

/** Answers `exec` and `attach`: a message stream with a channel for each of the process's own. */
export function execResponse(
  host: StreamHost,
  worker: PodWorker,
  query: URLSearchParams,
  upgrade: readonly string[] | undefined,
  isAttach: boolean,
): ApiResponse {
  const container = chosenContainer(worker, query.get("container") ?? "");
  const { name } = container.spec;
  if (container.state !== "running") throw badRequest(`container ${name} is not running`);
  const protocol = [...PROTOCOLS, ...OVER_SPDY.map((one) => SPDY + one)].find((one) => upgrade?.includes(one));
  if (!protocol)
    throw badRequest("unable to upgrade: this server speaks v5.channel.k8s.io, v4.channel.k8s.io and channel.k8s.io");
  const [near, other] = socketPair(protocol);
  const far = protocol.startsWith(SPDY) ? channelsOverSpdy(other, query) : other;
  const command = query.getAll("command");
  const serve = isAttach
    ? attach(container, far, query.get("stdin") === "true")
    : run(host, worker, container, command, far);
  serve.then(
    (exitCode) => finish(far, exitCode),
    (error: unknown) => finish(far, 1, error instanceof Error ? error.message : String(error)),
  );
  return { status: 101, headers: {}, body: "", socket: near };
}

async function run(
  host: StreamHost,
  worker: PodWorker,
  container: SimulatedContainer,
  command: readonly string[],
  socket: PairedSocket,
): Promise<number> {
  const session: ExecSession = {
    pod: worker.pod,
    container: container.spec.name,
    command,
    stdin: stdinOf(socket),
    stdout: (text) => socket.send(framed(STDOUT, text)),
    stderr: (text) => socket.send(framed(STDERR, text)),
    signal: socket.closed,
  };
  const scripted = host.image(container.spec.image)?.exec;
  if (scripted) return scripted(session);
  const { pod, place } = worker;
  const log = (text: string | Uint8Array) => container.openLog().write(Buffer.from(text as string).toString("utf8"));
  const where = { pod, place, container: container.spec, id: container.id, log };
  if (!(await host.containerRuntime.has(where, command[0] ?? ""))) {
    session.stderr(
      `${command[0]}: not found: containers are simulated; give the image an exec handler to answer this\n`,
    );
    return 127;
  }
  return host.containerRuntime.execute(where, command, session, socket.closed);
}

/**
 * Shows what the container writes from now on, and passes on what the client sends if it asked for that. A client whose input
 * ends, but not that of the container, is detached.
 */
async function attach(container: SimulatedContainer, socket: PairedSocket, withInput: boolean): Promise<number> {
  const { stdin, stdinOnce, tty } = container.spec;
  const detached = new AbortController();
  if (withInput && stdin) {
    void container.input
      .attach(stdinOf(socket))
      .catch(() => {})
      .then(() => {
        if (!stdinOnce || tty) detached.abort();
      });
  }
  for await (const lines of linesFrom(container.openLog(), AbortSignal.any([socket.closed, detached.signal])))
    await socket.send(framed(STDOUT, textOf(lines)));
  return detached.signal.aborted ? 0 : (container.ended?.exitCode ?? 0);
}

async function* stdinOf(socket: PairedSocket): AsyncGenerator<Uint8Array, void, void> {
  for await (const message of socket.messages) {
    const bytes = typeof message === "string" ? Buffer.from(message) : message;
    if (bytes[0] === CLOSE && bytes[1] === STDIN) return;
    if (bytes[0] === STDIN) yield bytes.subarray(1);
  }
}

function framed(channel: number | undefined, content: string | Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([channel ?? 0]), Buffer.from(content as string)]);
}

function finish(socket: PairedSocket, exitCode: number, why?: string): void {
  const message = why ?? `command terminated with non-zero exit code: exit status ${exitCode}`;
  const status =
    exitCode === 0
      ? { metadata: {}, status: "Success" }
      : {
          metadata: {},
          status: "Failure",
          message,
          reason: "NonZeroExitCode",
          details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
        };
  if (WITH_STATUS.has(socket.protocol)) socket.send(framed(OUTCOME, JSON.stringify(status)));
  else if (exitCode !== 0) socket.send(framed(OUTCOME, message));
  socket.close(1000);
}
