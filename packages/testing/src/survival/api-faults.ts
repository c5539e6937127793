import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";

/** Something that an API server, or the way to it, does to a request. */
export interface ApiFault {
  readonly name: string;
  fits(request: ApiRequest): boolean;
  happen(request: ApiRequest, next: Transport): Promise<ApiResponse>;
}

const isWatch = ({ path }: ApiRequest) => /[?&]watch=(true|1)\b/.test(path);
const isWrite = ({ method }: ApiRequest) => method !== "GET";

const failure = (code: number, reason: string, message: string) =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, message, code });

function answers(code: number, reason: string, headers: Record<string, string> = {}): ApiFault["happen"] {
  return async () => ({
    status: code,
    headers: { "content-type": "application/json", ...headers },
    body: failure(code, reason, `a fault of the test: ${reason}`),
  });
}

const cut = () => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** A watch that ends after its first event with what a server says when it no longer remembers. */
async function* goneAfterFirst(body: ApiResponse["body"]): AsyncGenerator<string | Uint8Array> {
  const gone = failure(410, "Expired", "too old resource version: a fault of the test");
  if (typeof body === "string" || body instanceof Uint8Array) yield body;
  else {
    for await (const chunk of body) {
      yield chunk;
      break;
    }
  }
  yield `${JSON.stringify({ type: "ERROR", object: JSON.parse(gone) })}\n`;
}

/** All faults that are tried. Each does its worst once, to one request. */
export const API_FAULTS: readonly ApiFault[] = [
  { name: "answered with 500", fits: () => true, happen: answers(500, "InternalError") },
  {
    name: "answered with 429",
    fits: () => true,
    happen: answers(429, "TooManyRequests", { "retry-after": "2" }),
  },
  { name: "answered with a conflict", fits: isWrite, happen: answers(409, "Conflict") },
  {
    name: "cut before it arrived",
    fits: () => true,
    async happen() {
      throw cut();
    },
  },
  {
    name: "cut after it took effect",
    fits: isWrite,
    async happen(request, next) {
      await next(request);
      throw cut();
    },
  },
  {
    name: "ended with 410",
    fits: isWatch,
    async happen(request, next) {
      const answer = await next(request);
      return { ...answer, body: goneAfterFirst(answer.body) };
    },
  },
];
