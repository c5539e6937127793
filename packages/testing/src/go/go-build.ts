import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BRIDGE_LINKER_FLAGS, bridgeCompilerFlags, bridgeFiles } from "./bridge-files.ts";
import { buildProblem } from "./build-problem.ts";
import { GoProgramError } from "./go-module.ts";
import { changedCopy, REPLACEMENTS } from "./go-replacements.ts";
import { GoToolchain } from "./go-toolchain.ts";

/** What is compiled, and where to. */
export interface GoBuildOptions {
  /** A package main, as `go build` accepts it: `./cmd/manager`. */
  readonly package: string;
  /** Where the package is looked for. Default: the working directory. */
  readonly folder?: string;
  /** Where the program and what its build needs are written. */
  readonly output: string;
}

interface ListedPackage {
  readonly Dir?: string;
  readonly Name?: string;
  readonly ImportPath: string;
  readonly Module?: { readonly Path: string; readonly GoMod?: string; readonly Dir?: string };
  readonly Error?: { readonly Err: string };
}

/** What a build needs besides the sources. */
interface BuildPlan {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Compiles a Go program for js/wasm with the user's toolchain, and returns its file. The sources stay as they are: modules that have
 * nothing for js are replaced by changed copies, in an alternative go.mod.
 */
export function buildGoProgram({ package: name, folder = process.cwd(), output }: GoBuildOptions): string {
  const go = new GoToolchain(folder);
  const [main] = listed(go, name);
  if (!main || main.Error || main.Dir === undefined) {
    throw new GoProgramError(`--go ${name}: ${main?.Error?.Err.trim() ?? "there is no such package"}`);
  }
  if (main.Name !== "main") {
    throw new GoProgramError(`--go ${name}: it is package ${main.Name}, not a program: pass its package main`);
  }
  mkdirSync(output, { recursive: true });
  const file = join(output, "program.wasm");
  const { flags, env } = plan(go, main, output);
  const args = ["build", "-trimpath", `-ldflags=-s -w ${BRIDGE_LINKER_FLAGS}`, ...flags, "-o", file, name];
  const { succeeded, stderr } = new GoToolchain(folder, env).run(...args);
  if (!succeeded) throw new GoProgramError(buildProblem(name, stderr));
  return file;
}

function listed(go: GoToolchain, name: string): ListedPackage[] {
  const text = go.output("list", "-e", "-json=Dir,Name,ImportPath,Module,Error", name).trim();
  return text === "" ? [] : (JSON.parse(`[${text.replace(/^}\n{/gm, "},\n{")}]`) as ListedPackage[]);
}

function plan(go: GoToolchain, main: ListedPackage, output: string): BuildPlan {
  const { GOWORK, GOFLAGS } = JSON.parse(go.output("env", "-json", "GOWORK", "GOFLAGS")) as Record<string, string>;
  const root = main.Module?.GoMod ? dirname(main.Module.GoMod) : undefined;
  const bridge = root === undefined ? [] : [bridgeCompilerFlags(main.Module!.Path)];
  const overlay: Map<string, string> =
    root === undefined || main.Dir === undefined ? new Map() : bridgeFiles({ path: main.Module!.Path, root }, main.Dir);
  const isVendored =
    root !== undefined && existsSync(join(root, "vendor", "modules.txt")) && !/-mod=/.test(GOFLAGS ?? "");
  const replaced = isVendored ? [] : replacedModules(go, output);
  const flags = [...bridge, ...(isVendored ? [] : ["-mod=mod"])];
  if (isVendored) {
    for (const { module, changed } of REPLACEMENTS) {
      for (const [file, text] of changed(join(root, "vendor", module))) overlay.set(file, text);
    }
  }
  if (overlay.size > 0) flags.push(`-overlay=${overlayFile(overlay, output)}`);
  if (GOWORK && GOWORK !== "off")
    return {
      flags: flags.filter((flag) => flag !== "-mod=mod"),
      env: { GOWORK: workFile(go, GOWORK, replaced, output) },
    };
  if (replaced.length > 0 && main.Module?.GoMod) {
    flags.push(`-modfile=${moduleFile(go, main.Module.GoMod, replaced, output)}`);
  }
  return { flags, env: {} };
}

/** The modules of the program that are replaced, as arguments of `go mod edit`. */
function replacedModules(go: GoToolchain, output: string): string[] {
  return REPLACEMENTS.flatMap(({ module, changed }) => {
    const { succeeded, stdout } = go.run("list", "-mod=mod", "-m", "-f", "{{.Dir}}", module);
    const folder = stdout.trim();
    if (!succeeded || folder === "") return [];
    const files = changed(folder);
    if (files.size === 0) return [];
    const copy = resolve(output, "replaced", module.replaceAll("/", "_"));
    changedCopy(folder, copy, files);
    return [`-replace=${module}=${copy}`];
  });
}

function moduleFile(go: GoToolchain, original: string, replaced: readonly string[], output: string): string {
  const file = resolve(output, "go.mod");
  copyFileSync(original, file);
  const sums = original.replace(/mod$/, "sum");
  if (existsSync(sums)) copyFileSync(sums, resolve(output, "go.sum"));
  go.output("mod", "edit", ...replaced, file);
  return file;
}

/** With a workspace, its file has the replacements. What it uses is named from where it is. */
function workFile(go: GoToolchain, original: string, replaced: readonly string[], output: string): string {
  const file = resolve(output, "go.work");
  copyFileSync(original, file);
  const { Use = [] } = JSON.parse(go.output("work", "edit", "-json", original)) as {
    Use?: { readonly DiskPath: string }[];
  };
  const moved = Use.flatMap(({ DiskPath }) => [`-dropuse=${DiskPath}`, `-use=${resolve(dirname(original), DiskPath)}`]);
  go.output("work", "edit", ...moved, ...replaced, file);
  const sums = `${original}.sum`;
  if (existsSync(sums)) copyFileSync(sums, `${file}.sum`);
  return file;
}

/** Tells Go which files it is to read instead of others. */
function overlayFile(files: ReadonlyMap<string, string>, output: string): string {
  const folder = resolve(output, "overlay");
  mkdirSync(folder, { recursive: true });
  const replace: Record<string, string> = {};
  for (const [i, [file, text]] of [...files].entries()) {
    replace[file] = join(folder, `${i}.go`);
    writeFileSync(replace[file], text);
  }
  const path = join(folder, "overlay.json");
  writeFileSync(path, JSON.stringify({ Replace: replace }));
  return path;
}
