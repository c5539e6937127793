import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { realClock, timestamp } from "@konverge/core";

/** One line of the table. */
export interface Row {
  readonly measure: string;
  readonly server: string;
  readonly value: number;
  readonly unit: string;
  /** Processor time that it took, if it was measured. */
  readonly cpuMs?: number | undefined;
  /** More is better. */
  readonly isRate?: boolean;
}

export const REAL = "etcd + kube-apiserver";

/** How many times better than the real server, by the clock and by processor time. */
function ratios(row: Row, rows: readonly Row[]): [string, string] {
  if (row.server.startsWith(REAL)) return ["1", row.cpuMs === undefined ? "" : "1"];
  const others = rows.filter(({ measure, server }) => measure === row.measure && server.startsWith(REAL));
  const way = row.server.split(", ").at(-1)!;
  const other = others.find(({ server }) => server.endsWith(way)) ?? others[0];
  if (!other) return ["", ""];
  const times = (mine: number, theirs: number, isRate = false) => {
    const ratio = isRate ? mine / theirs : theirs / mine;
    return ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1);
  };
  return [times(row.value, other.value, row.isRate), row.cpuMs && other.cpuMs ? times(row.cpuMs, other.cpuMs) : ""];
}

export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const [clock, processor] = ratios(row, rows);
    const cells = [row.measure, row.server, `${format(row.value)} ${row.unit}`, format(row.cpuMs), clock, processor];
    return `| ${cells.join(" | ")} |`;
  });
  const head = ["measure", "server", "value", "CPU, ms", "× real", "× CPU"];
  return [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...lines].join("\n");
}

function format(value: number | undefined): string {
  if (value === undefined) return "";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
}

/** What the numbers were measured on. */
function machine(): string {
  const processors = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${processors[0]?.model.trim()}, ${gib} GiB, ${type()} ${release()}, Node ${process.versions.node}`;
}

/** Writes the table to bench/results. */
export function write(rows: readonly Row[], explanation: string, load: string): string {
  const day = timestamp(realClock()).slice(0, 10);
  const text = `# The embedded API server compared with etcd + kube-apiserver

${day}, one run of \`node bench/apiserver/run.ts\`. ${machine()}. ${load}

${explanation}

${table(rows)}
`;
  const folder = join(import.meta.dirname, "..", "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "apiserver.md"), text);
  return text;
}
