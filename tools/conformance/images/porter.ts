import { createAuthority } from "@konverge/apiserver";
import type { Process } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { flagsOf, forEver, serveHttp } from "./serve.ts";

/** `agnhost porter`: says on each port what a variable named after the port holds. */
export async function porter(process: Process): Promise<number> {
  const asJson = flagsOf(process.argv.slice(2)).has("json-response");
  for (const [name, value] of Object.entries(process.env)) {
    const [, kind, port = ""] = /^SERVE_(?:(TCP|UDP|TLS)_)?PORT_(\d+)$/.exec(name) ?? [];
    if (port === "") continue;
    if (kind === "UDP") {
      process.network.answer(Number(port), async () => Buffer.from(value));
      continue;
    }
    const certificate = kind === "TLS" ? createAuthority(realClock()).server("localhost", ["127.0.0.1"]) : undefined;
    serveHttp(
      process,
      Number(port),
      (request, response) => response.end(asJson ? JSON.stringify({ Method: request.method, Body: value }) : value),
      certificate,
    );
  }
  return forEver(process);
}
