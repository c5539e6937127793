/** A block of PEM text. */
export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY` … */
  readonly type: string;
  /** Whether lines such as `Proc-Type: 4,ENCRYPTED` precede the data. */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = "-----BEGIN ";
const END = "-----END ";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The blocks in a text, one after the other, as Go finds them. Whatever is between them is skipped, and so are blocks that
 * have no end or are not base64.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let type: string | undefined;
  let lines: string[] = [];
  for (const line of text.split("\n").map((one) => one.trimEnd())) {
    if (line.startsWith(BEGIN)) {
      type = line.endsWith("-----") ? line.slice(BEGIN.length, -5) : undefined;
      lines = [];
    } else if (line.startsWith(END)) {
      if (type !== undefined && line === `${END}${type}-----`) blocks.push(...blockOf(type, lines));
      type = undefined;
    } else lines.push(line);
  }
  return blocks;
}

function blockOf(type: string, lines: readonly string[]): PemBlock[] {
  const first = lines.findIndex((line) => !line.includes(":"));
  const headers = first < 0 ? lines.length : first;
  const base64 = lines
    .slice(headers)
    .join("")
    .replace(/[ \t\r]/g, "");
  return BASE64.test(base64) ? [{ type, hasHeaders: headers > 0, bytes: Buffer.from(base64, "base64") }] : [];
}

/** Bytes as a block of PEM text. */
export function pem(type: string, bytes: Buffer): string {
  const base64 = bytes.toString("base64");
  return `-----BEGIN ${type}-----\n${base64.replace(/(.{64})(?=.)/g, "$1\n")}\n-----END ${type}-----\n`;
}
