import { ApiError, type MessageSocket, parseJson, type StatusObject } from "@konverge/core";
import { TransportError } from "../errors.ts";
import type { CallOptions } from "../options.ts";
import { ByteQueue, collectText } from "./byte-queue.ts";

/**
 * Subprotocols for exec and attach, best first. Each message is a channel number and bytes; version 5 can also say that
 * a channel is closed, without which a remote `cat` never learns that its input is over.
 */
export const CHANNEL_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;
const CLOSE = 255;

export interface AttachOptions extends CallOptions {
  /** Default: the pod's only or default container. */
  container?: string;
  /** Send input. Default: false. */
  stdin?: boolean;
  /** Default: true. */
  stdout?: boolean;
  /** Default: true, except with a terminal, where both outputs are one. */
  stderr?: boolean;
  /** Give the process a terminal. Default: false. */
  tty?: boolean;
}

/** The query parameters of exec and attach. */
export function attachQuery(options: AttachOptions) {
  const { container, stdin, stdout = true, tty } = options;
  return {
    container,
    stdin: stdin || undefined,
    stdout: stdout || undefined,
    stderr: (options.stderr ?? !tty) || undefined,
    tty: tty || undefined,
  };
}

/**
 * A process in a container, at the other end of a message stream.
 *
 * Guarantees: `exitCode` settles when the process ends (with its code, or the server's ApiError if it could not be run)
 * and when the connection is lost (with a TransportError). What the process wrote before is read first. A consumer that
 * reads slowly slows the process down; an output without a reader is kept in memory.
 */
export class RemoteProcess {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** 0 for success. For `attach`: 0 when it ended without an error. */
  readonly exitCode: Promise<number>;
  readonly #socket: MessageSocket;

  constructor(socket: MessageSocket) {
    this.#socket = socket;
    const stdout = new ByteQueue();
    const stderr = new ByteQueue();
    this.stdout = stdout;
    this.stderr = stderr;
    this.exitCode = run(socket, { [STDOUT]: stdout, [STDERR]: stderr });
    // A caller that does not read the exit code must not crash because of it.
    this.exitCode.catch(() => {});
  }

  /** Sends input. */
  write(data: string | Uint8Array): void {
    this.#send(STDIN, typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Closes the input. Throws if the protocol cannot do that (version 4). */
  end(): void {
    if (this.#socket.protocol !== "v5.channel.k8s.io") {
      throw new Error(`the server speaks ${this.#socket.protocol}, in which input cannot be ended; close() instead`);
    }
    this.#socket.send(Uint8Array.of(CLOSE, STDIN));
  }

  /** Sets the size of the terminal. */
  resize(size: { columns: number; rows: number }): void {
    this.#send(RESIZE, new TextEncoder().encode(JSON.stringify({ Width: size.columns, Height: size.rows })));
  }

  /** Closes the connection. */
  close(): void {
    this.#socket.close();
  }

  /** Reads all output, and resolves when the process has ended. */
  async output(): Promise<{ code: number; stdout: string; stderr: string }> {
    const [stdout, stderr, code] = await Promise.all([
      collectText(this.stdout),
      collectText(this.stderr),
      this.exitCode,
    ]);
    return { code, stdout, stderr };
  }

  #send(channel: number, data: Uint8Array): void {
    const message = new Uint8Array(data.length + 1);
    message[0] = channel;
    message.set(data, 1);
    this.#socket.send(message);
  }
}

async function run(socket: MessageSocket, outputs: Record<number, ByteQueue>): Promise<number> {
  let status = "";
  const finish = (error?: unknown) => {
    for (const queue of Object.values(outputs)) queue.end(error);
  };
  try {
    for await (const message of socket.messages) {
      const bytes = typeof message === "string" ? new TextEncoder().encode(message) : message;
      const channel = bytes[0];
      const data = bytes.subarray(1);
      if (channel === STATUS) status += new TextDecoder().decode(data);
      else if (channel === CLOSE) outputs[data[0] ?? CLOSE]?.end();
      else if (channel !== undefined && outputs[channel]) {
        outputs[channel].push(data);
        await outputs[channel].room();
      }
    }
  } catch (cause) {
    const error = new TransportError("closed", `the connection to the process broke: ${String(cause)}`, {
      cause,
      unknownOutcome: true,
    });
    finish(error);
    throw error;
  }
  if (status === "") {
    const error = new TransportError("closed", "the connection to the process ended without an exit status", {
      unknownOutcome: true,
    });
    finish(error);
    throw error;
  }
  finish();
  return exitCodeOf(parseJson(status) as StatusObject);
}

function exitCodeOf(status: StatusObject): number {
  if (status.status === "Success") return 0;
  const exit = status.details?.causes?.find(({ reason }) => reason === "ExitCode");
  if (status.reason === "NonZeroExitCode" && exit) return Number(exit.message);
  throw new ApiError({ ...status, code: status.code || 500 });
}
