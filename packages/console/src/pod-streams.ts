import type { ServerResponse } from "node:http";
import type { Client } from "@konverge/client";
import { ApiError, drained } from "@konverge/core";
import { sendJson, sendText } from "./answers.ts";
import { fieldsOf } from "./request-fields.ts";

/** Milliseconds for which a command may run. */
const COMMAND_TIMEOUT = 30_000;

/** Passes on the log of a container as it is written. */
export async function sendLogs(client: Client | undefined, query: URLSearchParams, response: ServerResponse) {
  if (!client) return sendText(response, 404, "a recording has no logs");
  const leave = new AbortController();
  response.once("close", () => leave.abort());
  const container = query.get("container");
  const lines = client.logs(`${query.get("namespace") ?? ""}/${query.get("pod") ?? ""}`, {
    follow: true,
    tailLines: 1000,
    signal: leave.signal,
    ...(container && { container }),
  });
  try {
    for await (const line of lines) {
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
      if (!response.write(`${line}\n`)) await drained(response);
    }
    response.end();
  } catch (error) {
    if (leave.signal.aborted) return;
    if (response.headersSent) response.end();
    else sendText(response, codeOf(error), messageOf(error));
  }
}

/** Runs a command in a container, by its shell, and answers with what it wrote and its exit code. */
export async function runCommand(client: Client, body: string, response: ServerResponse): Promise<void> {
  try {
    const { namespace, pod, container, command } = fieldsOf(body) as Record<string, string | undefined>;
    const process = await client.exec(`${namespace}/${pod}`, ["sh", "-c", command ?? ""], {
      timeout: COMMAND_TIMEOUT,
      ...(container && { container }),
    });
    const timer = client.clock.after(COMMAND_TIMEOUT, () => process.close(), { label: "console exec" });
    response.once("close", () => process.close());
    const ended = await process.output().finally(() => timer.cancel());
    sendJson(response, 200, ended);
  } catch (error) {
    if (!response.destroyed) sendJson(response, codeOf(error), { message: messageOf(error) });
  }
}

/**
 * Forwards a port of this machine, of loopback alone, to one of a pod, with the user's permissions. It is open for as long as
 * the response is: it ends with the page.
 */
export async function forwardPort(client: Client, body: string, response: ServerResponse): Promise<void> {
  try {
    const { namespace, pod, port } = fieldsOf(body) as { namespace?: string; pod?: string; port?: unknown };
    if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535)
      return sendJson(response, 400, { message: `a port is a number from 1 to 65535, not ${port}` });
    await using forward = await client.portForward(`${namespace}/${pod}`);
    response.once("close", () => void forward.close());
    const listener = await forward.listen(port, { host: "127.0.0.1" });
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    response.write(JSON.stringify({ address: `127.0.0.1:${listener.port}` }));
    await forward.closed;
    response.end();
  } catch (error) {
    if (!response.headersSent) sendJson(response, codeOf(error), { message: messageOf(error) });
  }
}

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : error instanceof SyntaxError ? 400 : 502);
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
