import type { Output } from "./session.ts";

/**
 * Makes what kubectl prints comparable. Whatever is masked here differs between two runs on a real server: identities and
 * versions, moments and ages, addresses, generated parts of names, the width of columns.
 */
export function normalize(
  { code, stdout, stderr }: Output,
  { unordered = false, masks = [] }: { unordered?: boolean; masks?: readonly Mask[] } = {},
): string {
  const lines = (text: string) => {
    const masked = mask(text, [...masks, ...MASKS]).split("\n");
    return (unordered ? masked.sort() : masked).join("\n").trimEnd();
  };
  return [`exit ${code}`, lines(stdout), ...(stderr === "" ? [] : ["-- stderr", lines(stderr)])].join("\n");
}

/** The letters of generated names: no vowels, so that no words come about. */
const SAFE = "[bcdfghjklmnpqrstvwxz2456789]";

/** What is replaced, and by what. */
export type Mask = readonly [RegExp, string];

const MASKS: readonly Mask[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  // The times of files that `kubectl diff` compares, and of objects in descriptions.
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}/g, "<time>"],
  [/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(resourceVersion\\*"?: ?\\*")\d+/g, "$1<version>"],
  [/(Resource Version: +)\d+/g, "$1<version>"],
  [/:3[0-2]\d{3}\//g, ":<port>/"],
  [/(nodePort"?: )3[0-2]\d{3}/g, "$1<port>"],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>"],
  [/X509SHA256=[0-9a-f]+/g, "X509SHA256=<digest>"],
  [/127\.0\.0\.1:\d+/g, "<server>"],
  [/\/tmp\/[^\s"]*\/(LIVE|MERGED)-\d+/g, "$1"],
  [/\/tmp\/[^\s"]*kubectl-edit-\d+/g, "<edited>"],
  [/^([EWIF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, "$1 "],
  [/\b10\.\d+\.\d+\.\d+\b/g, "<ip>"],
  [new RegExp(`-${SAFE}{8,10}-${SAFE}{5}\\b`, "g"), "-<hash>-<random>"],
  [new RegExp(`-${SAFE}{8,10}\\b`, "g"), "-<hash>"],
  [new RegExp(`-${SAFE}{5}\\b`, "g"), "-<random>"],
  [new RegExp(`(pod-template-hash"?[=:] ?"?)${SAFE}+`, "g"), "$1<hash>"],
  [/\b(\d+[dhms])+\b/g, "<age>"],
  // Columns are as wide as their widest cell.
  [/(\S) {2,}/g, "$1  "],
  [/ +$/gm, ""],
];

function mask(text: string, masks: readonly Mask[]): string {
  return masks.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text);
}
