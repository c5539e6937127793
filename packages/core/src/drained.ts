import type { Writable } from "node:stream";

/** Resolves when a stream takes more after a `write` that returned false, or is closed. */
export function drained(stream: Writable): Promise<void> {
  if (stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const over = () => {
      stream.off("drain", over);
      stream.off("close", over);
      resolve();
    };
    stream.on("drain", over);
    stream.on("close", over);
  });
}
