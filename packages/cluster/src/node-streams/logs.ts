import { ApiError, type ApiResponse, badRequest } from "@konverge/core";
import type { ContainerLog, LogLine } from "../images/container-log.ts";
import type { SimulatedContainer } from "../kubelet/container.ts";
import type { PodWorker } from "../kubelet/pod-worker.ts";
import { socketPair } from "../streams/socket-pair.ts";

/** Which part of a log is wanted, from the query of a request. */
interface Selection {
  readonly from: number;
  readonly tail: number;
  readonly timestamps: boolean;
  readonly limit: number;
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
    if (typeof body === "string") await far.send(Buffer.from(body));
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
export function logResponse(worker: PodWorker, query: URLSearchParams, now: number, signal?: AbortSignal): ApiResponse {
  const container = chosenContainer(worker, query.get("container") ?? "");
  const { name } = container.spec;
  const podName = worker.pod.metadata.name;
  const isPrevious = query.get("previous") === "true";
  if (isPrevious && !container.last) {
    throw badRequest(`previous terminated container "${name}" in pod "${podName}" not found`);
  }
  if (!isPrevious && container.state === "waiting" && !container.last) {
    const reason = container.reason || "ContainerCreating";
    throw badRequest(`container "${name}" in pod "${podName}" is waiting to start: ${reason}`);
  }
  const restarted = container.state === "waiting";
  const log = isPrevious && !restarted ? container.previousLog : container.log;
  const selection = selectionOf(query, now);
  const headers = { "content-type": "text/plain" };
  const lines = select(log?.lines ?? [], selection);
  if (query.get("follow") === "true")
    return { status: 200, headers, body: follow(container, log, lines, selection, signal) };
  if (lines.length <= AT_ONCE)
    return { status: 200, headers, body: textOf(lines, selection).slice(0, selection.limit) };
  return { status: 200, headers, body: clipped(inParts(lines, selection), selection.limit) };
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

function selectionOf(query: URLSearchParams, now: number): Selection {
  const number = (key: string) => (query.has(key) ? Number(query.get(key)) : undefined);
  const seconds = number("sinceSeconds");
  const time = query.get("sinceTime");
  const tail = number("tailLines");
  if (tail !== undefined && tail < 0) {
    const message = `PodLogOptions "" is invalid: tailLines: Invalid value: ${tail}`;
    throw new ApiError({ code: 422, reason: "Invalid", message: `${message}: must be greater than or equal to 0` });
  }
  return {
    from: seconds !== undefined ? now - seconds * 1000 : time ? Date.parse(time) : 0,
    tail: tail ?? Number.POSITIVE_INFINITY,
    timestamps: query.get("timestamps") === "true",
    limit: number("limitBytes") ?? Number.POSITIVE_INFINITY,
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

async function* clipped(body: AsyncIterable<string>, limit: number): AsyncGenerator<string, void, void> {
  let left = limit;
  for await (const part of body) {
    yield part.slice(0, left);
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
