import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";

/** A revision and its checksum, as text. */
const SLOT_BYTES = 32;
const SLOT = /^(\d{20}) ([0-9a-f]{8})$/;

/**
 * The last revision that a journal has acknowledged, in a separate file: a journal whose end is missing is consistent,
 * and nothing else would show that it had one.
 *
 * There are two slots, written in turn, so that a write that was cut leaves the other. The file may lag behind the journal,
 * never the other way round.
 */
export class RevisionRecord {
  readonly path: string;
  readonly #file: number;
  #next = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /**
   * Undefined for a file that says nothing: a new one, or one of zeros, as a power failure leaves a file of which the length
   * was written and not the content. NaN for one in which no slot is whole.
   */
  read(): number | undefined {
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    const length = readSync(this.#file, bytes, 0, bytes.length, 0);
    if (bytes.subarray(0, length).every((byte) => byte === 0)) return undefined;
    const revisions = [0, 1].map((slot) => revisionIn(bytes.toString("latin1", slot * SLOT_BYTES, length)));
    this.#next = revisions[0]! > (revisions[1] || 0) ? 1 : 0;
    const whole = revisions.filter((revision) => !Number.isNaN(revision));
    return whole.length > 0 ? Math.max(...whole) : Number.NaN;
  }

  /** Notes a revision that is kept. Until it is noted, the file says less than there is. */
  advance(revision: number): void {
    this.#write(this.#next, revision);
    this.#next = 1 - this.#next;
  }

  /** Notes a revision that may be lower than before. */
  reset(revision: number): void {
    this.#write(0, revision);
    this.#write(1, revision);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(slot: number, revision: number): void {
    const digits = String(revision).padStart(20, "0");
    const text = `${digits} ${crc32(digits).toString(16).padStart(8, "0")}`.padEnd(SLOT_BYTES - 1);
    writeSync(this.#file, `${text}\n`, slot * SLOT_BYTES, "latin1");
  }
}

function revisionIn(slot: string): number {
  const [, digits = "", checksum] = SLOT.exec(slot.slice(0, SLOT_BYTES).trimEnd()) ?? [];
  return checksum !== undefined && Number.parseInt(checksum, 16) === crc32(digits) ? Number(digits) : Number.NaN;
}
