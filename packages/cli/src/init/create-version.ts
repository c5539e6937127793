import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { versionSource } from "../definition/definition-source.ts";
import { UsageError } from "../usage-error.ts";
import { checkedKind, checkedVersion, fileName, versionConstant } from "./names.ts";
import { writeNewFiles } from "./new-files.ts";
import { projectKind, projectOf } from "./project.ts";

/** A version to add to a kind. */
export interface NewVersion {
  readonly kind: string;
  readonly version: string;
}

/**
 * Adds a version to a kind of the project that a folder is in: it begins with the fields of the stored version, in a file
 * of its own; the kind's file gets lines for it, and keeps all that it has.
 */
export async function createVersion(given: NewVersion, from: string, tell: (text: string) => void): Promise<void> {
  const project = projectOf(from);
  const kind = checkedKind(given.kind);
  const version = checkedVersion(given.version);
  const { path, crd } = await projectKind(project, kind);
  const stored = crd.spec.versions.find(({ storage }) => storage)!;
  const file = fileName(kind);
  const isThere = crd.spec.versions.some(({ name }) => name === version);
  const source = readFileSync(join(project.folder, path), "utf8");
  const hasStatus = stored.subresources?.status !== undefined;
  // Everything that can fail comes before the first write.
  const changed = isThere ? source : withVersion(source, { kind, version, stored: stored.name, hasStatus, path });
  const comment = `${kind} as ${version} has it. Change it, and the conversion in ./${file}.ts with it.`;
  const { text, notes } = versionSource(stored, versionConstant(kind, version), comment);
  const files = new Map([[`src/${file}-conversion.test.ts`, conversionTest(kind)]]);
  if (!isThere) files.set(`src/${file}-${version}.ts`, text);
  writeNewFiles(project.folder, files, tell);
  if (isThere) tell(`${path} unchanged: ${kind} has the version ${version}`);
  else {
    writeFileSync(join(project.folder, path), changed);
    tell(`${path} has the version ${version} now`);
    for (const note of notes) tell(`note: ${note}`);
  }
}

interface Insertion extends NewVersion {
  readonly stored: string;
  readonly hasStatus: boolean;
  readonly path: string;
}

/** The text of a kind's file with lines for a version. It only grows: where they belong must be plain to see. */
function withVersion(source: string, insertion: Insertion): string {
  const { kind, version, stored, hasStatus } = insertion;
  const constant = versionConstant(kind, version);
  const at = new RegExp(`^( *)kind: "${kind}",$`, "m").exec(source);
  const versions = at && /^( *)versions: \{$/m.exec(source.slice(at.index));
  if (!at || !versions || versions[1] !== at[1]) throw misplaced(insertion);
  const pad = at[1]!;
  const [before, inside] = [source.slice(0, at.index + versions.index), source.slice(at.index + versions.index)];
  const start = source.lastIndexOf("defineKind(", at.index);
  const head = source.slice(start, at.index + versions.index);
  const fields = hasStatus ? "{ spec, status }" : "{ spec }";
  const functions = `${pad}  ${version}: {\n${["toStored", "fromStored"]
    .map((way) => `${pad}    ${way}: (${fields}) => (${fields}),\n`)
    .join("")}${pad}  },\n`;
  const members = inside.replace("versions: {\n", `versions: {\n${pad}  ${version}: ${constant},\n`);
  const imported = withImport(before, `import { ${constant} } from "./${fileName(kind)}-${version}.ts";\n`, insertion);
  const storedLine =
    /^ *stored: /m.test(head) || inside.includes(`\n${pad}stored: `) ? "" : `${pad}stored: "${stored}",\n`;
  const opening = `\n${pad}conversion: {\n`;
  for (const [index, part] of [imported, members].entries()) {
    if (!part.includes(opening)) continue;
    const added = part.replace(opening, `${opening}${functions}`);
    return index === 0 ? `${added}${storedLine}${members}` : `${imported}${storedLine}${added}`;
  }
  return `${imported}${storedLine}${pad}conversion: {\n${functions}${pad}},\n${members}`;
}

function withImport(text: string, line: string, insertion: Insertion): string {
  const last = [...text.matchAll(/^(import [^;]*;|\} from "[^"]*";)\n/gm)].at(-1);
  if (!last) throw misplaced(insertion);
  const end = last.index + last[0].length;
  return `${text.slice(0, end)}${line}${text.slice(end)}`;
}

function misplaced({ kind, version, path, stored }: Insertion): UsageError {
  return new UsageError(
    `${path} is not changed: it has no defineKind({ …, kind: "${kind}", …, versions: { each at the start of a line. Format it (npx biome format or prettier), or add by hand: stored: "${stored}", versions.${version} and conversion.${version}`,
  );
}

function conversionTest(kind: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { conversionLosses } from "@konverge/dev";
import { ${kind} } from "./${fileName(kind)}.ts";

test("nothing is lost between the versions of ${kind}, in either direction", () => {
  assert.deepEqual(conversionLosses(${kind}), []);
});
`;
}
