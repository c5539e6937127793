import { fileURLToPath } from "node:url";

/**
 * Why a module could not be loaded, in one line, with the place in its source: `/app/src/kind.ts:12:18: Expression expected`.
 * For syntax errors Node writes the place at the top of the stack only, for others in the first call of a file.
 */
export function loadErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = sourcePlace(error.stack ?? "") ?? callPlace(error.stack ?? "");
  return place === undefined || error.message.includes(place) ? error.message : `${place}: ${error.message}`;
}

/** `FILE:LINE`, the line and a marker below it. */
function sourcePlace(stack: string): string | undefined {
  const [first = "", ...rest] = stack.split("\n");
  const [, file, line] = /^((?:file:|\/|[A-Za-z]:\\).*):(\d+)$/.exec(first) ?? [];
  if (file === undefined) return undefined;
  const marker = rest.find((text) => /^\s*\^/.test(text));
  return `${pathOf(file)}:${line}${marker === undefined ? "" : `:${marker.indexOf("^") + 1}`}`;
}

function callPlace(stack: string): string | undefined {
  const [, file, line] = /^ {4}at (?:.*\()?(file:.*?):(\d+:\d+)\)?$/m.exec(stack) ?? [];
  return file === undefined ? undefined : `${pathOf(file)}:${line}`;
}

function pathOf(file: string): string {
  if (!file.startsWith("file:")) return file;
  const url = new URL(file);
  url.search = "";
  return fileURLToPath(url);
}
