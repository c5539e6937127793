import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import { AccessCheck } from "./access-check.ts";
import { sendJson, sendText } from "./answers.ts";
import { proxied } from "./api-proxy.ts";
import { type ClusterControls, ControlError } from "./cluster-controls.ts";
import type { History } from "./history.ts";
import { pageFiles } from "./page-files.ts";
import { forwardPort, runCommand, sendLogs } from "./pod-streams.ts";
import type { ControlRequest } from "./protocol.ts";
import { fieldsOf } from "./request-fields.ts";
import type { Stream } from "./stream.ts";

/** No request body may have more bytes than this: objects have at most 1.5 MiB. */
const LARGEST_BODY = 4 * 2 ** 20;
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** Only the page's own script and style run, and it connects only to where it came from. */
const SECURITY_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

const NO_CONTROLS =
  "time, faults and snapshots are those of an embedded cluster: use the console in its process (konverge up --console, konverge dev, npm start), as its administrator";

export interface ConsoleServerOptions {
  readonly history: History;
  readonly stream: Stream;
  /** Whose permissions the page has; undefined for a recording. */
  readonly client?: Client;
  /** Of an embedded cluster in this process. */
  readonly controls?: ClusterControls;
  readonly clock: Clock;
  readonly readOnly: boolean;
  /** 0: any that is free. */
  readonly port: number;
}

/** The port that a console listens on. */
export interface ConsoleServer {
  readonly port: number;
  /** The link that opens it. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the page, the stream of changes, older versions of objects, logs, and the API server, on loopback only. */
export async function serveConsole(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { clock, stream } = options;
  const token = clock.secrets.text(40);
  let access: AccessCheck | undefined;
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    answer(options, access!, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { message: error instanceof Error ? error.message : String(error) });
    });
  });
  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  access = new AccessCheck({ token, session: clock.secrets.text(40) }, port);
  return {
    port,
    url: `http://127.0.0.1:${port}/?token=${token}`,
    close: () =>
      new Promise((resolve) => {
        stream.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

async function answer(
  options: ConsoleServerOptions,
  access: AccessCheck,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = access.refusal(request);
  if (refusal) return sendText(response, refusal.status, refusal.message);
  const [pathname, searchParams] = pathOf(request);
  if (access.hasToken(request)) {
    // Without the token in the address: it stays out of the history and of what is copied from there.
    response.writeHead(303, { location: "/", "set-cookie": access.setCookie }).end();
    return;
  }
  if (pathname.startsWith("/k8s/")) return answerApi(options, request, response);
  if (pathname === "/console/exec" && request.method === "POST")
    return answerForPod(options, runCommand, request, response);
  if (pathname === "/console/forward" && request.method === "POST")
    return answerForPod(options, forwardPort, request, response);
  if (pathname === "/console/controls" && request.method === "POST") return answerControls(options, request, response);
  if (request.method !== "GET") return sendText(response, 405, "method not allowed");
  const { history, stream } = options;
  const at = Number(searchParams.get("at") ?? Number.POSITIVE_INFINITY);
  switch (pathname) {
    case "/console/stream":
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      return stream.open(response);
    case "/console/state":
      return sendJson(response, 200, history.summaries(at));
    case "/console/object": {
      const object = history.object(searchParams.get("id") ?? "", at);
      return object ? sendJson(response, 200, object) : sendJson(response, 404, { message: "not known at that time" });
    }
    case "/console/logs":
      return sendLogs(options.client, searchParams, response);
    default:
      return sendPage(pathname === "/" ? "index.html" : pathname.slice(1), response);
  }
}

/** As it was sent: nothing in it is resolved, as in a URL, or decoded. */
function pathOf({ url = "/" }: IncomingMessage): [pathname: string, query: URLSearchParams] {
  const question = url.indexOf("?");
  if (question < 0) return [url, new URLSearchParams()];
  return [url.slice(0, question), new URLSearchParams(url.slice(question + 1))];
}

async function answerApi(options: ConsoleServerOptions, request: IncomingMessage, response: ServerResponse) {
  const { client, readOnly } = options;
  if (!client) return sendJson(response, 404, { message: "a recording has no API server" });
  const body = await bodyOf(request);
  if (body === undefined) return sendText(response, 413, "the body is too large");
  const { status, body: text } = await proxied(
    client,
    {
      method: request.method ?? "GET",
      path: (request.url ?? "").slice("/k8s".length),
      ...(request.headers["content-type"] && { contentType: request.headers["content-type"] }),
      body,
    },
    readOnly,
  );
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(text);
}

async function answerForPod(
  { client, readOnly }: ConsoleServerOptions,
  perform: typeof runCommand,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (!client) return sendJson(response, 404, { message: "a recording has no containers" });
  if (readOnly) return sendJson(response, 403, { message: "the console is read-only" });
  const body = await bodyOf(request);
  if (body === undefined) return sendText(response, 413, "the body is too large");
  return perform(client, body, response);
}

async function answerControls(
  { controls, readOnly }: ConsoleServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (readOnly) return sendJson(response, 403, { message: "the console is read-only" });
  if (!controls) return sendJson(response, 404, { message: NO_CONTROLS });
  const body = await bodyOf(request);
  if (body === undefined) return sendText(response, 413, "the body is too large");
  try {
    await controls.perform(fieldsOf(body) as ControlRequest);
    sendJson(response, 200, {});
  } catch (error) {
    if (!(error instanceof ControlError || error instanceof RangeError || error instanceof SyntaxError)) throw error;
    sendJson(response, 400, { message: error.message });
  }
}

async function sendPage(name: string, response: ServerResponse): Promise<void> {
  const text = (await pageFiles()).get(name);
  if (text === undefined) return sendText(response, 404, "not found");
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "text/plain";
  response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
