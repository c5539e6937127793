import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { posix } from "node:path";
import type { Duplex } from "node:stream";
import { FileError } from "../file-error.ts";
import type { FileSystem } from "../file-system.ts";
import type { Command, Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { pathOf } from "./failing.ts";
import { untilAborted } from "./http-request.ts";

/** `80`, `0.0.0.0:80` … */
function portOf(text: string): number {
  const port = Number(text.slice(text.lastIndexOf(":") + 1));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`bad port '${text}'`);
  return port;
}

/** `nc -l`: serves one connection, or with `-k` (`-ll`) one after the other; `-e` runs a program for each. */
export async function listen(process: Process, talk: (connection: Duplex) => Promise<void>): Promise<number> {
  const words = process.argv.slice(1);
  const at = words.findIndex((word) => /^-[a-z]*e$/.test(word));
  const program = at < 0 ? [] : words.slice(at + 1);
  const { flags, operands } = argumentsOf(at < 0 ? words : words.slice(0, at), ["p", "s", "w", "i"]);
  const isPersistent = flags.has("k") || words.some((word) => /^-[a-z]*l[a-z]*l/.test(word));
  const { promise: first, resolve } = Promise.withResolvers<void>();
  let [waiting, arrived]: [Duplex[], () => void] = [[], resolve];
  const stop = process.network.listen(portOf(flags.get("p") ?? operands.at(-1) ?? ""), (connection) => {
    connection.on("error", () => {});
    waiting.push(connection);
    if (!isPersistent) stop();
    arrived();
  });
  try {
    for (let arrival = first; ; ) {
      await untilAborted(arrival, process.signal);
      const accepted = waiting;
      const next = Promise.withResolvers<void>();
      [waiting, arrived, arrival] = [[], next.resolve, next.promise];
      for (const connection of accepted)
        await (program.length === 0 ? talk(connection) : serve(process, connection, program));
      if (!isPersistent) return 0;
    }
  } finally {
    stop();
  }
}

/** Runs a program with a connection as its input and output. */
async function serve(process: Process, connection: Duplex, program: readonly string[]): Promise<void> {
  const write = (data: string | Uint8Array) => {
    if (!connection.destroyed) connection.write(data);
  };
  await process.run(program, { stdin: connection as AsyncIterable<Uint8Array>, stdout: write, stderr: write });
  connection.end();
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
};

/** `httpd [-f] [-p PORT] [-h HOME]`: serves files; without `-f` in the background, until the container ends. */
export const httpd: Command = async (process) => {
  const { flags } = argumentsOf(process.argv.slice(1), ["p", "h", "c", "u", "r", "e", "m", "d"]);
  const { files, network, signal } = process;
  const home = pathOf(process, flags.get("h") ?? ".");
  const server = createServer((request, response) => answer(files, home, request, response));
  const stop = network.listen(portOf(flags.get("p") ?? "80"), (connection) => server.emit("connection", connection));
  if (!flags.has("f")) return 0;
  try {
    return await untilAborted(new Promise<never>(() => {}), signal);
  } finally {
    stop();
  }
};

function answer(files: FileSystem, home: string, request: IncomingMessage, response: ServerResponse): void {
  const refuse = (status: number, title: string, text: string) => {
    response.writeHead(status, { "content-type": "text/html" });
    response.end(
      `<HTML><HEAD><TITLE>${status} ${title}</TITLE></HEAD>\n<BODY><H1>${status} ${title}</H1>\n${text}\n</BODY></HTML>\n`,
    );
  };
  if (request.method !== "GET" && request.method !== "HEAD") {
    refuse(501, "Not Implemented", "The requested method is not recognized");
    return;
  }
  try {
    const { pathname } = new URL(request.url ?? "/", "http://pod");
    const asked = posix.join(home, decodeURIComponent(pathname));
    const path = files.stat(asked).kind === "directory" ? posix.join(asked, "index.html") : asked;
    const content = files.read(path);
    const type = TYPES[posix.extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": content.length });
    response.end(request.method === "HEAD" ? undefined : content);
  } catch (error) {
    // An error that left this function would end the API server's process.
    if (error instanceof FileError && error.code === "EACCES") refuse(403, "Forbidden", "");
    else refuse(404, "Not Found", "The requested URL was not found");
  }
}
