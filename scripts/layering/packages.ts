import { type Import, isTest } from "./imports.ts";

/** Which package may import which. The arrows are the design: see the picture in docs/decisions/001-layers.md. */
const allowed: Record<string, string[]> = {
  core: [],
  certificates: ["core"],
  kinds: ["core"],
  schema: ["core", "kinds"],
  client: ["core", "kinds", "schema"],
  runtime: ["core", "certificates", "kinds", "schema", "client"],
  sizing: ["core", "kinds"],
  declarative: ["core", "kinds", "schema", "runtime"],
  apiserver: ["core", "certificates", "kinds", "schema"],
  cluster: ["core", "certificates", "kinds", "schema", "client", "runtime", "apiserver"],
  "linux-node": ["core", "kinds", "client"],
  console: ["core", "kinds", "client", "runtime"],
  testing: ["core", "certificates", "kinds", "schema", "client", "runtime", "apiserver", "cluster"],
};
/** What tests of packages import besides: the embedded cluster to run against. */
const allowedInTests: Record<string, string[]> = {
  runtime: ["apiserver", "cluster", "testing"],
  declarative: ["client", "apiserver", "cluster", "testing", "dev"],
  console: ["cluster", "testing", "database-operator", "cli"],
};
/** What users install; operators and examples may use nothing else. */
const published = ["konverge", "@konverge/dev"];
/** What tests of operators use besides. */
const testTools = ["@konverge/real", "@konverge/operator-suite", "@konverge/operators"];

/** Imports that go against the arrows between packages, or past a package's front door. */
export function packageProblems(imports: readonly Import[]): string[] {
  return imports.flatMap((one) => {
    const problem = one.from.startsWith("packages/") ? packageImport(one) : operatorImport(one);
    return problem ? [`${one.from}:${one.line} imports ${one.specifier}: ${problem}`] : [];
  });
}

function packageImport({ from, specifier, to }: Import): string | undefined {
  const name = from.split("/")[1]!;
  if (to && !to.startsWith(`packages/${name}/`)) return "use the name of the package";
  if (to && isTest(to) && !isTest(from)) return "only tests import what is in test folders";
  const target = /^@konverge\/([a-z-]+)/.exec(specifier)?.[1];
  const mine = allowed[name];
  if (!mine || !target || target === name) return undefined;
  if (mine.includes(target)) return undefined;
  if (isTest(from) && (target === "real" || allowedInTests[name]?.includes(target))) return undefined;
  return `${name} may import ${mine.join(", ") || "nothing"}`;
}

function operatorImport({ from, specifier }: Import): string | undefined {
  const [area, mine] = from.split("/") as [string, string];
  if (area !== "operators" && area !== "examples") return undefined;
  const name = /^(@konverge\/[a-z-]+|konverge)(\/|$)/.exec(specifier)?.[1];
  if (!name)
    return specifier.startsWith(".") && specifier.includes("/packages/") ? "use the name of the package" : undefined;
  if (name === "konverge") return undefined;
  // Its own package by name; all operators only where they are put together.
  if (area === "operators" && (name === `@konverge/${mine}-operator` || (mine === "all" && name.endsWith("-operator"))))
    return undefined;
  if (isTest(from) && (published.includes(name) || testTools.includes(name))) return undefined;
  return isTest(from) ? "operators' tests import konverge and @konverge/dev" : "operators import konverge alone";
}
