// Which package may import which. The arrows are the design: see the picture in docs/decisions/001-layers.md.
import { globSync, readFileSync } from "node:fs";

const allowed: Record<string, string[]> = {
  core: [],
  kinds: ["core"],
  schema: ["core", "kinds"],
  client: ["core", "kinds", "schema"],
  runtime: ["core", "kinds", "schema", "client"],
  apiserver: ["core", "kinds", "schema"],
  cluster: ["core", "kinds", "schema", "client", "runtime", "apiserver"],
  testing: ["core", "kinds", "schema", "client", "runtime", "apiserver", "cluster"],
};
/** What users install; operators and examples may use nothing else. */
const published = ["konverge", "@konverge/dev"];
/** What tests of operators use besides. */
const testTools = ["@konverge/real", "@konverge/operator-suite", "@konverge/operators"];

const wrong: string[] = [];
for (const file of globSync("{packages,operators,examples}/**/*.ts", { exclude: (f) => f.includes("node_modules") })) {
  const [area, name] = file.split("/") as [string, string];
  const isTest = /\.test\.ts$|\/test\//.test(file);
  for (const [, specifier] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
    const problem =
      area === "packages" ? packageImport(name, specifier!, isTest) : operatorImport(area, name, specifier!, isTest);
    if (problem) wrong.push(`${file}: imports ${specifier}: ${problem}`);
  }
}
for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);

function packageImport(name: string, specifier: string, isTest: boolean): string | undefined {
  const target = /^@konverge\/([a-z-]+)/.exec(specifier)?.[1];
  const mine = allowed[name];
  if (!mine || !target || target === name) return undefined;
  if (target in allowed && mine.includes(target)) return undefined;
  if (isTest && target === "real") return undefined;
  return `${name} may import ${mine.join(", ") || "nothing"}`;
}

function operatorImport(area: string, mine: string, specifier: string, isTest: boolean): string | undefined {
  const name = /^(@konverge\/[a-z-]+|konverge)(\/|$)/.exec(specifier)?.[1];
  if (!name)
    return specifier.startsWith(".") && specifier.includes("/packages/") ? "goes round the front door" : undefined;
  if (name === "konverge") return undefined;
  // Its own package by name; all operators only where they are put together.
  if (area === "operators" && (name === `@konverge/${mine}-operator` || (mine === "all" && name.endsWith("-operator"))))
    return undefined;
  if (isTest && (published.includes(name) || testTools.includes(name))) return undefined;
  return isTest ? "operators' tests import konverge and @konverge/dev" : "operators import konverge alone";
}
