import type { IncomingMessage, ServerResponse } from "node:http";
import { posix } from "node:path";
import { FileError, type Process } from "@konverge/cluster";
import { serveHttp } from "./serve.ts";

/** Serves the files below a folder. */
export function serveFiles(process: Process, port: number, root: string): void {
  serveHttp(process, port, (request, response) => answerWithFile(process, root, request, response));
}

function answerWithFile({ files }: Process, root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://pod");
  const path = posix.join(root, decodeURIComponent(pathname));
  try {
    const isFolder = files.stat(path).kind === "directory";
    const index = posix.join(path, "index.html");
    if (isFolder && !files.exists(index)) response.end(files.list(path).join("\n"));
    else response.end(files.read(isFolder ? index : path));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    response.writeHead(error.code === "ENOENT" ? 404 : 403).end(error.message);
  }
}
