import type { IncomingMessage, ServerResponse } from "node:http";
import type { Process } from "@konverge/cluster";
import { durationMs, sleep } from "@konverge/core";
import { fetchText, flagsOf, forEver, originOf, parametersOf, serveHttp } from "./serve.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, given: URLSearchParams) => void | Promise<void>;

/** `agnhost netexec`: returns its host name and address over HTTP and UDP, and dials others on request. */
export async function netexec(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const { network, stdout } = process;
  const httpPort = Number(flags.get("http-port") ?? 8080);
  const udpPort = Number(flags.get("udp-port") ?? 8081);
  let isEnding = false;
  process.onTerminate(() => {
    isEnding = true;
    const delay = Number(flags.get("delay-shutdown") ?? 0) * 1000;
    process.clock.after(delay, () => process.exit(0), { label: process.label });
  });
  const text =
    (make: (given: URLSearchParams, request: IncomingMessage) => string | Promise<string>): Handler =>
    async (request, response, given) =>
      void response.end(await make(given, request));
  const handlers: Record<string, Handler> = {
    "/clientip": text((_, request) => originOf(request)),
    "/serverport": text(() => String(httpPort)),
    "/hostname": text(() => network.hostName),
    "/hostName": text(() => network.hostName),
    "/echo": (_, response, given) => {
      if (given.get("code")) response.statusCode = Number(given.get("code"));
      response.end(given.get("msg") ?? "");
    },
    "/header": text((given, { headers }) => {
      const key = given.get("key");
      return key ? String(headers[key.toLowerCase()] ?? "") : JSON.stringify(headers);
    }),
    "/healthz": text(() => ""),
    "/readyz": (_, response) => {
      response.statusCode = isEnding ? 503 : 200;
      response.end(isEnding ? "shutting down" : "ok");
    },
    "/exit": async (_, response, given) => {
      response.end();
      await sleep(process.clock, durationMs(given.get("wait") || "0s"), { signal: process.signal });
      process.exit(Number(given.get("code") ?? 0));
    },
    "/shutdown": () => process.exit(0),
    "/redirect": (_, response, given) => {
      response.writeHead(Number(given.get("code") ?? 302), { location: given.get("location") ?? "" }).end();
    },
    "/dial": text((given) => dial(process, given)),
    "/shell": text((given) => shell(process, given.get("shellCommand") ?? given.get("cmd") ?? "")),
  };
  const root: Handler = text(() => `NOW: ${new Date(process.clock.now()).toISOString()}`);
  serveHttp(process, httpPort, (request, response) => {
    const override = flags.get("http-override");
    const path = override ?? new URL(request.url ?? "/", "http://pod").pathname;
    void (async () => {
      const given = override ? new URL(override, "http://pod").searchParams : await parametersOf(request);
      stdout(`${request.method} ${override ?? request.url}\n`);
      await (handlers[new URL(path, "http://pod").pathname] ?? root)(request, response, given);
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  stdout(`Started HTTP server on port ${httpPort}\n`);
  if (udpPort !== -1) {
    serveUdp(process, udpPort);
    stdout(`Started UDP server on port  ${udpPort}\n`);
  }
  return forEver(process);
}

function serveUdp({ network }: Process, port: number): void {
  network.answer(port, async (data, from) => {
    const received = Buffer.from(data).toString("utf8").trim();
    const answers: Record<string, () => string> = {
      hostname: () => network.hostName,
      clientip: () => `${from}:40000`,
      serverport: () => String(port),
    };
    const answer = received.startsWith("echo ") ? received.slice(5) : answers[received.toLowerCase()]?.();
    return answer === undefined ? undefined : Buffer.from(answer);
  });
}

async function dial(process: Process, given: URLSearchParams): Promise<string> {
  const responses: string[] = [];
  const errors: string[] = [];
  const [host, port] = [given.get("host") ?? "", Number(given.get("port"))];
  const request = given.get("request") ?? "";
  for (let left = Number(given.get("tries") ?? 1); left > 0; left--) {
    try {
      if (given.get("protocol") === "udp") {
        const reply = await process.network.ask(host, port, Buffer.from(request));
        if (!reply) throw new Error("reading from udp connection failed. err:'i/o timeout'");
        responses.push(Buffer.from(reply).toString("utf8"));
      } else responses.push(await fetchText(process, host, port, `/${request}`));
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error));
    }
  }
  return JSON.stringify({ ...(responses.length > 0 && { responses }), ...(errors.length > 0 && { errors }) });
}

async function shell(process: Process, script: string): Promise<string> {
  let output = "";
  const add = (text: string | Uint8Array) => {
    output += Buffer.from(text as string).toString("utf8");
  };
  const status = await process.run(["sh", "-c", script], { stdout: add, stderr: add });
  return JSON.stringify({ ...(output && { output }), ...(status !== 0 && { error: `exit status ${status}` }) });
}
