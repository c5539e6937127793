/** The prefix of the names by which a program's global variables are exported. */
export const GLOBAL_EXPORT = "konverge.global.";

const SECTION = { import: 2, global: 6, export: 7 } as const;
const EXPORTS_GLOBAL = 3;

/**
 * The same module with its mutable globals exported, so that a stopped program can be copied with the state that is not in its memory.
 * Go compiles the stack pointer and a few registers into such globals.
 */
export function withExportedGlobals(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = sectionsOf(module);
  const globals = sections.find(({ id }) => id === SECTION.global);
  const exported = sections.find(({ id }) => id === SECTION.export);
  if (!globals || !exported)
    throw new Error("the module has no globals or no exports: it was not built by Go for js/wasm");
  const mutable = mutableGlobals(new Reader(module, globals.start));
  const reader = new Reader(module, exported.start);
  const count = reader.number();
  const added = mutable.flatMap((number) => {
    const name = [...new TextEncoder().encode(`${GLOBAL_EXPORT}${number}`)];
    return [name.length, ...name, EXPORTS_GLOBAL, ...leb(number)];
  });
  const entries = module.subarray(reader.at, exported.end);
  const head = leb(count + mutable.length);
  const size = leb(head.length + entries.length + added.length);
  return joined([
    module.subarray(0, exported.head),
    Uint8Array.from([SECTION.export, ...size, ...head]),
    entries,
    Uint8Array.from(added),
    module.subarray(exported.end),
  ]);
}

interface Section {
  readonly id: number;
  /** Where its identifier, its content and what follows it begin. */
  readonly head: number;
  readonly start: number;
  readonly end: number;
}

function sectionsOf(module: Uint8Array): Section[] {
  const magic = [0, 0x61, 0x73, 0x6d];
  if (magic.some((byte, i) => module[i] !== byte)) throw new Error("it is not a WebAssembly module");
  const sections: Section[] = [];
  for (let at = 8; at < module.length; ) {
    const reader = new Reader(module, at);
    const id = reader.byte();
    const size = reader.number();
    sections.push({ id, head: at, start: reader.at, end: reader.at + size });
    at = reader.at + size;
  }
  return sections;
}

/** The numbers of the mutable globals. Go's programs import none, so that numbers begin with the first one here. */
function mutableGlobals(reader: Reader): number[] {
  const count = reader.number();
  const mutable: number[] = [];
  for (let i = 0; i < count; i++) {
    reader.byte();
    if (reader.byte() === 1) mutable.push(i);
    reader.constant();
  }
  return mutable;
}

const OPCODE = { i32: 0x41, i64: 0x42, f32: 0x43, f64: 0x44, end: 0x0b } as const;

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** Skips the expression that a global begins with. */
  constant(): void {
    for (let code = this.byte(); code !== OPCODE.end; code = this.byte()) {
      if (code === OPCODE.i32 || code === OPCODE.i64) while (this.byte() >= 0x80);
      else if (code === OPCODE.f32) this.at += 4;
      else if (code === OPCODE.f64) this.at += 8;
      else throw new Error(`a global begins with an expression that is not a constant (0x${code.toString(16)})`);
    }
  }
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 128) + 0x80);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
