import { readFileSync, writeFileSync } from "node:fs";
import type { VerifyCase } from "./verify-case.ts";

/** A case, and what Go said. */
export interface AnsweredCase extends VerifyCase {
  readonly answer: string;
}

interface Line {
  readonly go?: string;
  readonly certificate?: string;
  readonly title?: string;
  readonly chain?: readonly number[];
  readonly roots?: readonly number[];
  readonly host?: string;
  readonly time?: string;
  readonly answer?: string;
}

const FILE = new URL("go-answers.jsonl", import.meta.url);

/** The cases that were recorded. The file has one line for each certificate, and cases that name them by number. */
export function recordedAnswers(): AnsweredCase[] {
  const lines = readFileSync(FILE, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const certificates = lines.flatMap(({ certificate }) => (certificate ? [Buffer.from(certificate, "base64")] : []));
  certificates.push(Buffer.alloc(0));
  const named = (numbers: readonly number[] = []) => numbers.map((number) => certificates.at(number)!);
  return lines.flatMap(({ title, chain, roots, host = "", time = "", answer = "" }) => {
    return title === undefined ? [] : [{ title, chain: named(chain), roots: named(roots), host, time, answer }];
  });
}

export function recordAnswers(go: string, cases: readonly AnsweredCase[]): void {
  const all = new Set(cases.flatMap(({ chain, roots }) => [...chain, ...roots]).map((raw) => raw.toString("base64")));
  const certificates = [...all].filter((one) => one !== "");
  // No bytes at all are the certificate before the first.
  const numbers = (list: readonly Buffer[]) => list.map((raw) => certificates.indexOf(raw.toString("base64")));
  const lines: Line[] = [
    { go },
    ...certificates.map((certificate) => ({ certificate })),
    ...cases.map(({ title, chain, roots, host, time, answer }) => {
      return { title, chain: numbers(chain), roots: numbers(roots), host, time, answer };
    }),
  ];
  writeFileSync(FILE, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
