import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";

/** `base64`, and back with -d. */
export const base64: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["w"]);
  const input = new InputFiles(process, operands);
  const isDecoding = flags.has("d") || flags.has("decode");
  // What is written at once must be a whole number of groups: of three bytes, or of four characters.
  const group = isDecoding ? 4 : 3;
  let rest: Buffer = Buffer.alloc(0);
  const write = (bytes: Buffer) =>
    process.stdout(isDecoding ? Buffer.from(bytes.toString("latin1"), "base64") : bytes.toString("base64"));
  for await (const piece of input.pieces()) {
    await process.spend(piece.length / 1024);
    const bytes = Buffer.concat([rest, isDecoding ? withoutBlanks(piece) : piece]);
    const whole = bytes.length - (bytes.length % group);
    await write(bytes.subarray(0, whole));
    rest = bytes.subarray(whole);
  }
  await write(rest);
  if (!isDecoding) await process.stdout("\n");
  return input.status;
};

function withoutBlanks(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte) => byte > 0x20);
}
