import type { ApiResponse } from "@konverge/core";
import type { CallOptions, Query } from "../options.ts";

export interface LogOptions extends CallOptions {
  /** Default: the pod's only or default container. */
  container?: string;
  /** Continue as more is written, until the container ends. */
  follow?: boolean;
  /** The log of the previous container. */
  previous?: boolean;
  /** Only this many lines from the end. */
  tailLines?: number;
  sinceSeconds?: number;
  /** RFC 3339. */
  sinceTime?: string;
  /** Put the time before each line. */
  timestamps?: boolean;
  limitBytes?: number;
}

export function logQuery(options: LogOptions): Query {
  const { container, follow, previous, tailLines, sinceSeconds, sinceTime, timestamps, limitBytes } = options;
  return {
    container,
    follow: follow || undefined,
    previous: previous || undefined,
    tailLines,
    sinceSeconds,
    sinceTime,
    timestamps: timestamps || undefined,
    limitBytes,
  };
}

/** The lines of a log as they come, empty ones too; the last may have been cut short. */
export async function* logLines(body: ApiResponse["body"]): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const chunks = typeof body === "string" || body instanceof Uint8Array ? [body] : body;
  let rest = "";
  for await (const chunk of chunks) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
