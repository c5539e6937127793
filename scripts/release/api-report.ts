// `npm run api`: writes what the published packages export, so that every change of the public surface is seen in review;
// `npm run api -- --check` says whether it is up to date.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { emit, emitted } from "./emit.ts";
import { published } from "./layout.ts";

const REPORTS = "docs/reference/api";

emit();
let stale = 0;
for (const { folder, name, contains } of published.filter((one) => one.folder.startsWith("packages/"))) {
  const report = `# ${name}: what it exports\n\n${contains.map(section).join("\n")}`;
  const file = `${REPORTS}/${basename(folder)}.md`;
  if (process.argv.includes("--check")) {
    if (readOrNothing(file) === report) continue;
    stale++;
    console.error(`${file} does not show today's public surface: run \`npm run api\` and look at what changed`);
  } else {
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(file, report);
  }
}
process.exitCode = stale === 0 ? 0 : 1;

/** The exported names of a folder's front door, with the declarations behind them. Generated types are left out. */
function section(folder: string): string {
  const lines = [...exportsOf(`${emitted}/${folder}/src/index.d.ts`, new Set())].sort();
  return `## ${basename(folder)}\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n`;
}

function* exportsOf(file: string, seen: Set<string>): Generator<string> {
  if (seen.has(file) || file.includes("/generated/")) return;
  seen.add(file);
  const text = withoutComments(readFileSync(file, "utf8"));
  for (const [, module] of text.matchAll(/export (?:type )?\* from "(\.[^"]+)"/g))
    yield* exportsOf(resolve(file, module!), seen);
  for (const [, names, module] of text.matchAll(/export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)) {
    const wanted = new Set(
      names!.split(",").map(
        (one) =>
          one
            .trim()
            .replace(/^type /, "")
            .split(" as ")[0]!,
      ),
    );
    for (const declaration of declarationsIn(resolve(file, module!)))
      if (wanted.has(nameOf(declaration))) yield oneLine(declaration);
  }
  for (const declaration of declarationsIn(file)) yield oneLine(declaration);
}

/** Top-level exported declarations, each with its body. */
function declarationsIn(file: string): string[] {
  if (file.includes("/generated/")) return [];
  const text = withoutComments(readFileSync(file, "utf8"));
  return text
    .split(
      /^(?=export (?:declare |type |interface |abstract |const |function |class )|declare |interface |type |import )/m,
    )
    .filter((part) => /^export (?:declare|type|interface)/.test(part) && !/^export type (\{|\*)/.test(part));
}

function nameOf(declaration: string): string {
  return (
    /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type|let)\s+([\w$]+)/.exec(
      declaration,
    )?.[1] ?? ""
  );
}

function oneLine(declaration: string): string {
  return declaration
    .replace(/^export (declare )?/, "")
    .replace(/\s+/g, " ")
    .trim();
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

function resolve(from: string, module: string): string {
  return join(dirname(from), module.replace(/\.(ts|js)$/, ".d.ts"));
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
