import type { Process } from "@konverge/cluster";
import { bodyOf, flagsOf, forEver, serveHttp } from "./serve.ts";

/** `agnhost nettest`: counts who has written to it. */
export async function nettest(process: Process): Promise<number> {
  const port = Number(flagsOf(process.argv.slice(2)).get("port") ?? 8080);
  const received: Record<string, number> = {};
  const { hostName } = process.network;
  serveHttp(process, port, (request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? "/", "http://pod");
      if (pathname === "/write") {
        const { Source } = JSON.parse(await bodyOf(request)) as { Source: string };
        received[Source] = (received[Source] ?? 0) + 1;
        response.end(JSON.stringify({ Hostname: hostName }));
      } else if (pathname === "/read") {
        response.end(JSON.stringify({ Hostname: hostName, Sent: {}, Received: received, Errors: null, Log: null }));
      } else if (pathname === "/quit") {
        response.end();
        process.exit(0);
      } else response.end(pathname === "/status" ? "running" : "ok");
    })().catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  return forEver(process);
}
