import { createAuthority } from "@konverge/apiserver";
import type { Process } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { flagsOf, forEver, serveHttp } from "./serve.ts";

/** What Go's web server detects as HTML when there is no content type. */
const MARKUP =
  /^\s*<(!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)(?=[\s>]|(?<=--))/i;

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
      ({ method }, response) => {
        const text = asJson ? JSON.stringify({ Method: method, Body: value }) : value;
        response.writeHead(200, { "content-type": `text/${MARKUP.test(text) ? "html" : "plain"}; charset=utf-8` });
        response.end(text);
      },
      certificate,
    );
  }
  return forEver(process);
}
