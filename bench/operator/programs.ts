import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const here = import.meta.dirname;
const repository = join(here, "..", "..");
const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "bench");

/** The operator on controller-runtime, built from the Go module proxy. */
export function controllerRuntimeOperator(): string[] {
  const program = join(cache, "operator-controller-runtime");
  mkdirSync(cache, { recursive: true });
  execFileSync("go", ["build", "-o", program, "."], {
    cwd: join(here, "controller-runtime"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  return [program];
}

/** The operator on Konverge and what it imports, as they are published: JavaScript. */
export function konvergeOperator(): string[] {
  const folder = join(cache, "operator-konverge");
  rmSync(folder, { recursive: true, force: true });
  for (const name of ["core", "kinds", "schema", "client", "runtime"]) {
    const target = join(folder, "node_modules", "@konverge", name);
    const source = join(repository, "packages", name);
    emit(join(source, "src"), join(target, "src"));
    if (existsSync(join(source, "data"))) symlinkSync(join(source, "data"), join(target, "data"));
    const manifest = readFileSync(join(source, "package.json"), "utf8");
    writeFileSync(join(target, "package.json"), manifest.replaceAll('.ts"', '.js"'));
  }
  const installed = join(repository, "node_modules");
  for (const name of readdirSync(installed)) {
    if (name.startsWith(".") || name === "@konverge") continue;
    symlinkSync(join(installed, name), join(folder, "node_modules", name));
  }
  for (const file of ["operator.ts", "widget.ts"]) emitFile(join(here, file), join(folder, file));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return [process.execPath, "--disable-warning=ExperimentalWarning", join(folder, "operator.js")];
}

function emit(source: string, target: string): void {
  for (const file of globSync("**/*.{ts,json,js}", { cwd: source, exclude: (path) => /\.(test|d)\.ts$/.test(path) })) {
    emitFile(join(source, file), join(target, file));
  }
}

function emitFile(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const text = readFileSync(source, "utf8");
  const isCode = source.endsWith(".ts");
  const code = isCode
    ? stripTypeScriptTypes(text).replace(/((?:from|import|import\()\s*"\.[^"]*)\.ts"/g, '$1.js"')
    : text;
  writeFileSync(isCode ? target.replace(/\.ts$/, ".js") : target, code);
}
