import type { FileNode } from "../file-tree.ts";

const KINDS: Readonly<Record<FileNode["kind"], string>> = { directory: "d", link: "l", device: "c", file: "-" };

/** File permissions as `ls -l` prints them: `-rw-r--r--`. */
export function modeText(kind: FileNode["kind"], mode: number): string {
  const letters = [..."rwxrwxrwx"].map((letter, index) => (mode & (0o400 >> index) ? letter : "-"));
  const special: [number, number, string][] = [
    [0o4000, 2, "s"],
    [0o2000, 5, "s"],
    [0o1000, 8, "t"],
  ];
  for (const [bit, at, letter] of special)
    if (mode & bit) letters[at] = letters[at] === "x" ? letter : letter.toUpperCase();
  return KINDS[kind] + letters.join("");
}

/** A mode after `chmod`: `0644`, `u+x`, `go-w`, `a=r`. */
export function changedMode(mode: number, spec: string): number {
  if (/^[0-7]+$/.test(spec)) return Number.parseInt(spec, 8);
  let changed = mode;
  for (const clause of spec.split(",")) {
    const [, who = "", sign, permissions = ""] = /^([ugoa]*)([-+=])([rwxXst]*)$/.exec(clause) ?? [];
    if (sign === undefined) continue;
    const classes = who === "" || who.includes("a") ? "ugo" : who;
    for (const [index, one] of [..."ugo"].entries()) {
      if (!classes.includes(one)) continue;
      const shift = 6 - 3 * index;
      const bits = (/r/.test(permissions) ? 4 : 0) | (/w/.test(permissions) ? 2 : 0) | (/x/i.test(permissions) ? 1 : 0);
      if (sign === "+") changed |= bits << shift;
      else if (sign === "-") changed &= ~(bits << shift);
      else changed = (changed & ~(7 << shift)) | (bits << shift);
    }
  }
  return changed;
}
