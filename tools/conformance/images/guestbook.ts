import type { Process } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { fetchText, flagsOf, forEver, parametersOf, serveHttp } from "./serve.ts";

/** `agnhost guestbook`: a store with replicas, and the page in front of them. */
export async function guestbook(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const backendPort = Number(flags.get("backend-port") ?? 6379);
  const store = new Map<string, string>();
  const replicas: string[] = [];
  const answers: Record<string, (given: URLSearchParams) => Promise<string>> = {
    "/register": async (given) => {
      replicas.push(given.get("host") ?? "");
      return JSON.stringify({ data: Object.fromEntries(store) });
    },
    "/get": async (given) => JSON.stringify({ data: store.get(given.get("key") ?? "") ?? "" }),
    "/set": async (given) => {
      store.set(given.get("key") ?? "", given.get("value") ?? "");
      for (const replica of replicas) await fetchText(process, replica, backendPort, `/set?${given}`);
      return JSON.stringify({ message: "Updated" });
    },
    "/guestbook": async (given) => {
      const command = given.get("cmd") ?? "";
      const host = command === "get" ? "agnhost-replica" : "agnhost-primary";
      given.delete("cmd");
      return fetchText(process, host, backendPort, `/${command}?${given}`);
    },
  };
  serveHttp(process, Number(flags.get("http-port") ?? 80), (request, response) => {
    void (async () => {
      const answer = answers[new URL(request.url ?? "/", "http://pod").pathname];
      response.end(answer ? await answer(await parametersOf(request)) : "");
    })().catch((error: unknown) => response.writeHead(417).end(`encountered error: ${error}`));
  });
  const primary = flags.get("replicaof");
  if (primary) await register(process, primary, backendPort, store);
  return forEver(process);
}

async function register(process: Process, primary: string, port: number, store: Map<string, string>): Promise<void> {
  for (;;) {
    try {
      const answer = await fetchText(process, primary, port, `/register?host=${process.network.address}`);
      const { data } = JSON.parse(answer) as { data: Record<string, string> };
      for (const [key, value] of Object.entries(data)) store.set(key, value);
      return;
    } catch {
      await sleep(process.clock, 1000, { signal: process.signal, label: process.label });
    }
  }
}
