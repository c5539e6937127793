import { sleep } from "@konverge/core";
import type { Command, Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { pathOf } from "./failing.ts";
import { InputFiles } from "./input-files.ts";
import { sizeOf } from "./sizes.ts";

/** How often `tail -f` polls the file, in milliseconds. */
const POLL_INTERVAL = 1000;
/** What a line that is kept takes besides its characters. */
const LINE_SIZE = 96;

interface Wanted {
  readonly count: number;
  /** `count` is the first line or byte, not the number of them at the end. */
  readonly fromStart: boolean;
  readonly bytes: boolean;
  readonly follow: boolean;
  readonly names: readonly string[];
}

/** What the arguments request; undefined when the count is not a number, which is reported. */
function wantedOf({ argv, stderr }: Process): Wanted | undefined {
  const [command, ...words] = argv;
  const { flags, operands } = argumentsOf(
    words.map((word) => (/^-\d+$/.test(word) ? `-n${word.slice(1)}` : word)),
    ["n", "c", "lines", "bytes"],
  );
  const bytes = flags.get("c") ?? flags.get("bytes");
  const text = bytes ?? flags.get("n") ?? flags.get("lines") ?? "10";
  const count = sizeOf(text.replace(/^[-+]/, ""));
  if (Number.isNaN(count)) {
    stderr(`${command}: invalid number '${text}'\n`);
    return undefined;
  }
  const follow = flags.has("f") || flags.has("F");
  return { count, fromStart: text.startsWith("+"), bytes: bytes !== undefined, follow, names: operands };
}

export const head: Command = async (process) => {
  const wanted = wantedOf(process);
  if (!wanted) return 1;
  const input = new InputFiles(process, wanted.names);
  let left = wanted.count;
  if (wanted.bytes) {
    for await (const piece of left > 0 ? input.pieces() : []) {
      await process.stdout(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) break;
    }
    return input.status;
  }
  for await (const line of left > 0 ? input.lines() : []) {
    await process.stdout(`${line}\n`);
    if (--left <= 0) break;
  }
  return input.status;
};

export const tail: Command = async (process) => {
  const wanted = wantedOf(process);
  if (!wanted) return 1;
  const status = await (wanted.bytes ? lastBytes(process, wanted) : lastLines(process, wanted));
  const [name] = wanted.names;
  if (!wanted.follow || name === undefined || status !== 0) return status;
  return followFile(process, pathOf(process, name));
};

async function lastLines(process: Process, { count, fromStart, names }: Wanted): Promise<number> {
  const { memory } = process;
  const input = new InputFiles(process, names);
  let kept: string[] = [];
  let [number, dropped] = [0, 0];
  for await (const line of input.lines()) {
    number++;
    if (fromStart) {
      if (number >= count) await process.stdout(`${line}\n`);
      continue;
    }
    memory.hold(line.length + LINE_SIZE);
    kept.push(line);
    if (kept.length - dropped > count) memory.release(kept[dropped++]!.length + LINE_SIZE);
    if (dropped > 1000 && dropped * 2 > kept.length) [kept, dropped] = [kept.slice(dropped), 0];
  }
  for (let at = dropped; at < kept.length; at++) {
    await process.spend(1);
    await process.stdout(`${kept[at]}\n`);
  }
  return input.status;
}

async function lastBytes(process: Process, { count, fromStart, names }: Wanted): Promise<number> {
  const { memory } = process;
  const input = new InputFiles(process, names);
  const kept: Uint8Array[] = [];
  let [size, skipped] = [0, fromStart ? count - 1 : 0];
  for await (const piece of input.pieces()) {
    if (fromStart) {
      await process.stdout(piece.subarray(Math.min(skipped, piece.length)));
      skipped = Math.max(0, skipped - piece.length);
      continue;
    }
    memory.hold(piece.length + LINE_SIZE);
    kept.push(piece);
    size += piece.length;
    while (kept[0] && size - kept[0].length >= count) {
      size -= kept[0].length;
      memory.release(kept.shift()!.length + LINE_SIZE);
    }
  }
  for (const piece of kept) {
    await process.stdout(piece.subarray(Math.min(piece.length, Math.max(0, size - count))));
    size -= Math.max(0, size - count);
  }
  return input.status;
}

async function followFile(process: Process, path: string): Promise<number> {
  const { files, clock, signal, label, stdout } = process;
  for (let shown = files.read(path).length; ; ) {
    await sleep(clock, POLL_INTERVAL, { signal, background: true, label });
    const now = files.exists(path) ? files.read(path) : new Uint8Array();
    if (now.length > shown) await stdout(now.subarray(shown));
    shown = now.length;
  }
}
