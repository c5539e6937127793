import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { init } from "../src/init/init.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A new project in a temporary folder, whose packages are those of this checkout. */
export interface ProjectStage extends Disposable {
  readonly folder: string;
  /** What commands have told so far. */
  readonly lines: string[];
  readonly tell: (text: string) => void;
  read(path: string): string;
  write(path: string, text: string): void;
  /** Runs a program in the project; throws with its output unless it succeeds. */
  run(command: string, ...args: string[]): string;
  /** The type check of the project. */
  check(): void;
  /** Lint and formatting, by the rules of this repository. */
  lint(): void;
  /** The tests of the project, or some of them. */
  test(...files: string[]): string;
}

export function projectStage(kind = "Cache"): ProjectStage {
  const place = mkdtempSync(join(tmpdir(), "konverge-project-"));
  for (const name of ["konverge", "konverge-dev"]) writeFileSync(join(place, `${name}-0.1.0.tgz`), name);
  const folder = join(place, "cache-operator");
  const lines: string[] = [];
  const tell = (text: string) => void lines.push(text);
  const api = { domain: "example.com", group: "", version: "v1alpha1", kind };
  init(folder, { ...api, packages: place, install: false, path: undefined, ownVersion: "0.1.0", tell });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env["PATH"] };
  // Set by the runner of these tests, it would make the project's tests report to it.
  delete env["NODE_TEST_CONTEXT"];
  const run = (command: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    folder,
    lines,
    tell,
    run,
    read: (path) => readFileSync(join(folder, path), "utf8"),
    write: (path, text) => writeFileSync(join(folder, path), text),
    check() {
      const args = [join(ROOT, "node_modules/typescript/bin/tsc"), "--pretty", "false"];
      const { stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
      // The packages are sources here, which a project's settings are not made for.
      const own = stdout.split(/\n(?!\s)/).filter((line) => /^(src|kinds)\//.test(line));
      if (own.length > 0) throw new Error(own.join("\n"));
    },
    lint() {
      const config = `--config-path=${join(ROOT, "biome.json")}`;
      run(
        process.execPath,
        join(ROOT, "node_modules/@biomejs/biome/bin/biome"),
        "check",
        config,
        "--vcs-enabled=false",
        "src",
      );
    },
    test: (...files) => run(process.execPath, "--disable-warning=ExperimentalWarning", "--test", ...files),
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  };
}
