// `npm run pack`: makes the packages that are published, in dist/, as tarballs with declarations, source maps and an SBOM.
// Nothing is uploaded: publishing is `npm publish --provenance dist/<tarball>` on the release machine.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emit, emitted } from "./emit.ts";
import { type PublishedPackage, published } from "./layout.ts";
import { rewriteImports } from "./rewrite-imports.ts";

emit();
for (const target of published) stage(target);
for (const { folder } of published)
  execFileSync("npm", ["pack", "--pack-destination", "dist", `./dist/stage/${folder}`], { stdio: "inherit" });
const sbom = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"], {
  encoding: "utf8",
  maxBuffer: 1e8,
});
writeFileSync("dist/sbom.cdx.json", sbom);

/** Puts one package together in a folder of its own. */
function stage(target: PublishedPackage): void {
  const root = `dist/stage/${target.folder}`;
  for (const folder of target.contains) copyCode(`${emitted}/${folder}/src`, `dist/${folder}`, root, target);
  copyCode(`${emitted}/${target.folder}/src`, "dist/entry", root, target);
  for (const folder of target.contains) {
    const data = `packages/${folder}/data`;
    if (existsSync(data)) cpSync(data, `${root}/dist/data`, { recursive: true });
  }
  for (const file of ["LICENSE", "README.md", "CHANGELOG.md"]) cpSync(file, `${root}/${file}`);
  writeFileSync(`${root}/package.json`, `${JSON.stringify(manifestOf(target), undefined, 2)}\n`);
}

function copyCode(from: string, to: string, root: string, target: PublishedPackage): void {
  for (const path of globSync("**/*.{js,d.ts,js.map}", { cwd: from })) {
    const file = `${to}/${path}`;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    const text = readFileSync(join(from, path), "utf8");
    writeFileSync(join(root, file), path.endsWith(".map") ? text : rewriteImports(text, file, target, moduleOf));
  }
}

/** The module behind `@konverge/<folder><subpath>`, from the folder's own exports. */
function moduleOf(folder: string, subpath: string): string {
  const { exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8")) as {
    exports: Record<string, string>;
  };
  const exact = exports[`.${subpath}`];
  const pattern = Object.entries(exports).find(
    ([key]) => key.includes("*") && `.${subpath}`.startsWith(key.split("*")[0]!),
  );
  const module = exact ?? pattern?.[1].replace("*", `.${subpath}`.slice(pattern[0].indexOf("*")));
  if (!module)
    throw new Error(`@konverge/${folder}${subpath} is not among the exports of packages/${folder}/package.json`);
  return module.replace("./src/", "").replace(/\.ts$/, ".js");
}

function manifestOf({ name, folder, description, contains }: PublishedPackage): object {
  const read = (at: string) => JSON.parse(readFileSync(`packages/${at}/package.json`, "utf8"));
  const { version, exports } = read(folder) as { version: string; exports: Record<string, string> };
  const dependencies: Record<string, string> = {};
  for (const part of contains) {
    for (const [dependency, range] of Object.entries((read(part).dependencies ?? {}) as Record<string, string>)) {
      if (!dependency.startsWith("@konverge/")) dependencies[dependency] = `^${range}`;
    }
  }
  if (name !== "konverge") dependencies.konverge = version;
  return {
    name,
    version,
    description,
    license: "Apache-2.0",
    type: "module",
    engines: { node: ">=24" },
    sideEffects: false,
    exports: Object.fromEntries([
      ...Object.entries(exports).map(([key, module]) => [key, conditions(module.replace("./src/", "./dist/entry/"))]),
      ...contains.flatMap((part) => innerExports(part, read(part).exports)),
    ]),
    files: ["dist"],
    dependencies,
  };
}

/** Subpaths of a folder (`schema/cel`, `kinds/apps.v1`) are subpaths of the package too: the other package needs them. */
function innerExports(folder: string, exports: Record<string, string>): [string, object][] {
  return Object.entries(exports)
    .filter(([key]) => key !== ".")
    .map(([key, module]) => [`./${folder}${key.slice(1)}`, conditions(module.replace("./src/", `./dist/${folder}/`))]);
}

function conditions(module: string): object {
  const path = module.replace(/\.ts$/, "");
  return { types: `${path}.d.ts`, default: `${path}.js` };
}
