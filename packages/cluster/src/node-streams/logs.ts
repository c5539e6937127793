import type { LogOptions } from "@konverge/apiserver";
import { type ApiResponse, badRequest } from "@konverge/core";
import type { ContainerLog, LogLine } from "../images/container-log.ts";
import type { SimulatedContainer } from "../kubelet/container.ts";
import type { PodWorker } from "../kubelet/pod-worker.ts";
import { socketPair } from "../streams/socket-pair.ts";

/** Which part of a log is requested. */
interface Selection {
  readonly from: number;
  readonly tail: number;
  readonly timestamps: boolean;
}

/** The container that a request is about. */
export function chosenContainer(worker: PodWorker, name: string): SimulatedContainer {
  const { containers, pod } = worker;
  const podName = pod.metadata.name;
  if (name !== "") {
    const found = containers.find(({ spec }) => spec.name === name);
    if (!found) throw badRequest(`container ${name} is not valid for pod ${podName}`);
    return found;
  }
  const mains = containers.filter(({ role }) => role === "main");
  if (mains.length === 1) return mains[0]!;
  const names = mains.map(({ spec }) => spec.name).join(" ");
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names}]`);
}

/** Logs as messages, for clients that cannot read an answer while it comes. */
const MESSAGES = "binary.k8s.io";

/** Sends a log as WebSocket messages, if the client has requested an upgrade. */
export function asMessages(response: ApiResponse, upgrade: readonly string[] | undefined): ApiResponse {
  if (!upgrade || response.status !== 200) return response;
  if (upgrade.length > 0 && !upgrade.includes(MESSAGES)) {
    throw badRequest(`unable to upgrade: logs are sent by ${MESSAGES} alone`);
  }
  const [near, far] = socketPair(upgrade.length > 0 ? MESSAGES : "");
  void (async () => {
    const { body } = response;
    if (typeof body === "string" || body instanceof Uint8Array) await far.send(Buffer.from(body as string));
    else
      for await (const chunk of body as AsyncIterable<string | Uint8Array>) {
        if (far.closed.aborted) return;
        await far.send(Buffer.from(chunk as string));
      }
    far.close(1000);
  })().catch(() => far.close(1011));
  return { status: 101, headers: {}, body: "", socket: near };
}

/** Answers a request for a container's log. */
export function logResponse(
  worker: PodWorker,
  containerName: string,
  options: LogOptions,
  now: number,
  signal?: AbortSignal,
): ApiResponse {
  const container = chosenContainer(worker, containerName);
  const { name } = container.spec;
  const podName = worker.pod.metadata.name;
  const isPrevious = options.previous;
  if (isPrevious && !container.last) {
    throw badRequest(`previous terminated container "${name}" in pod "${podName}" not found`);
  }
  if (!isPrevious && container.state === "waiting" && !container.last) {
    const reason = container.reason || "ContainerCreating";
    throw badRequest(`container "${name}" in pod "${podName}" is waiting to start: ${reason}`);
  }
  const restarted = container.state === "waiting";
  const log = isPrevious && !restarted ? container.previousLog : container.log;
  const selection = selectionOf(options, now);
  const headers = { "content-type": "text/plain" };
  const lines = select(log?.lines ?? [], selection);
  const text = options.follow
    ? follow(container, log, lines, selection, signal)
    : lines.length <= AT_ONCE
      ? textOf(lines, selection)
      : inParts(lines, selection);
  return { status: 200, headers, body: limited(text, options.limitBytes) };
}

/** Lines that are turned into text in one go. */
const AT_ONCE = 200;

/** The text of many lines, in parts, so that other work runs in between. */
async function* inParts(
  lines: readonly LogLine[],
  selection: Pick<Selection, "timestamps">,
): AsyncGenerator<string, void, void> {
  for (let at = 0; at < lines.length; at += AT_ONCE) yield textOf(lines.slice(at, at + AT_ONCE), selection);
}

function selectionOf({ sinceSeconds, sinceTime, tailLines, timestamps }: LogOptions, now: number): Selection {
  return {
    from: sinceSeconds !== undefined ? now - sinceSeconds * 1000 : (sinceTime ?? 0),
    tail: tailLines ?? Number.POSITIVE_INFINITY,
    timestamps,
  };
}

function select(lines: readonly LogLine[], { from, tail }: Selection): readonly LogLine[] {
  const recent = from > 0 ? lines.filter(({ at }) => at >= from) : lines;
  return tail >= recent.length ? recent : recent.slice(recent.length - tail);
}

/** Lines as they are sent. */
export function textOf(
  lines: readonly LogLine[],
  { timestamps }: Pick<Selection, "timestamps"> = { timestamps: false },
): string {
  const stamp = ({ at }: LogLine) => (timestamps ? `${new Date(at).toISOString().replace("Z", "000000Z")} ` : "");
  return lines.map((line) => `${stamp(line)}${line.text}${line.partial ? "" : "\n"}`).join("");
}

/** A log up to a number of bytes, which can end within a character. */
function limited(body: string | AsyncIterable<string>, limit: number | undefined): ApiResponse["body"] {
  if (limit === undefined) return body;
  return typeof body === "string" ? Buffer.from(body).subarray(0, limit) : clipped(body, limit);
}

async function* clipped(body: AsyncIterable<string>, limit: number): AsyncGenerator<Uint8Array, void, void> {
  let left = limit;
  for await (const text of body) {
    const part = Buffer.from(text);
    yield part.subarray(0, left);
    left -= part.length;
    if (left <= 0) return;
  }
}

/** The existing lines, and new ones, until the run ends or the reader disconnects. */
async function* follow(
  container: SimulatedContainer,
  log: ContainerLog | undefined,
  lines: readonly LogLine[],
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<string, void, void> {
  // A container that has written nothing yet may still begin to.
  const source = log ?? container.openLog();
  const position = source.end;
  yield* inParts(lines, selection);
  for await (const more of linesFrom(source, signal, position)) yield textOf(more, selection);
}

/** The lines that are added to a log from now on, or from a position on, until its run ends. */
export async function* linesFrom(
  log: ContainerLog,
  signal: AbortSignal | undefined,
  start = log.end,
): AsyncGenerator<readonly LogLine[], void, void> {
  for (let position = start; !signal?.aborted; ) {
    const lines = log.from(position, AT_ONCE);
    if (lines.length > 0) {
      position = Math.max(position, log.start) + lines.length;
      yield lines;
      continue;
    }
    if (log.ended) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        leave();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const leave = log.subscribe(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}
