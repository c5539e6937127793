import type { Clock } from "@konverge/core";
import type { FileSystem } from "./file-system.ts";
import { PIECE, piecesOf } from "./input.ts";

const ZEROS = new Uint8Array(PIECE);

/** The content of a file, piece by piece; that of some devices never ends. Errors are thrown immediately. */
export function filePieces(
  { files, clock }: { readonly files: FileSystem; readonly clock: Clock },
  path: string,
): Iterable<Uint8Array> {
  const data = files.read(path);
  const { device } = files.stat(path);
  if (device === "zero") return endless(() => ZEROS);
  return device === "urandom" ? endless(() => randomBytes(clock)) : piecesOf(data);
}

function* endless(make: () => Uint8Array): Generator<Uint8Array, void, void> {
  for (;;) yield make();
}

function randomBytes({ random }: Clock): Uint8Array {
  const words = new Uint32Array(RANDOM_WORDS);
  for (let at = 0; at < words.length; at++) words[at] = random.below(2 ** 32);
  return new Uint8Array(words.buffer);
}

/** Few at a time: most readers need a handful of bytes. */
const RANDOM_WORDS = 256;
