/** What js/wasm does not have, and how the compiler says so. */
const MISSING: readonly { readonly pattern: RegExp; readonly what: (found: RegExpExecArray) => string }[] = [
  {
    pattern: /^(?:package (\S+)\n)?.*build constraints exclude all Go files in (\S+)/m,
    what: ([, importer, folder]) =>
      `the package in ${folder} has no files for js/wasm${importer ? ` (imported by ${importer})` : ""}: it needs cgo, or an operating system`,
  },
  {
    pattern: /^(\S+\.go):(\d+):\d+: undefined: (\S+)/m,
    what: ([, file, line, name]) => `${file}:${line} uses ${name}, which does not exist on js/wasm`,
  },
];

/** Why a program cannot be compiled for js/wasm, and what to do. */
export function buildProblem(name: string, output: string): string {
  for (const { pattern, what } of MISSING) {
    const found = pattern.exec(output);
    if (!found) continue;
    const package_ = /^# (\S+)/m.exec(output)?.[1];
    const where = package_ === undefined ? "" : `package ${package_}: `;
    return (
      `--go ${name}: ${where}${what(found)}. Explore the program as a process instead: --command. ` +
      `The compiler's output:\n${output.trim()}`
    );
  }
  return `--go ${name} does not compile for js/wasm:\n${output.trim()}`;
}
