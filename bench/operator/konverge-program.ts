import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { published } from "../../scripts/release/layout.ts";
import { stageCode, stageFolder } from "../../scripts/release/stage.ts";

const here = import.meta.dirname;
const repository = join(here, "..", "..");
const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "bench");

/** How an operator is started, and in which environment. */
export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The operator on Konverge as a user's image has it: the published package and the libraries that it leaves outside, in
 * JavaScript, with Node's compile cache (`ENV NODE_COMPILE_CACHE`) filled when the image was made. To be run from the repository's root.
 */
export async function konvergeProgram(): Promise<Program> {
  const folder = join(cache, "operator-konverge");
  const modules = join(folder, "node_modules");
  rmSync(folder, { recursive: true, force: true });
  const [konverge] = published;
  await stageCode(konverge!, stageFolder(konverge!, modules));
  const installed = join(repository, "node_modules");
  for (const name of readdirSync(installed)) {
    if (name.startsWith(".") || name === "konverge" || name === "@konverge") continue;
    symlinkSync(join(installed, name), join(modules, name));
  }
  for (const file of ["operator", "widget"]) {
    const code = stripTypeScriptTypes(readFileSync(join(here, `${file}.ts`), "utf8"));
    writeFileSync(join(folder, `${file}.js`), code.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const command = [process.execPath, join(folder, "operator.js")];
  const env = { NODE_COMPILE_CACHE: join(folder, "compiled") };
  execFileSync(command[0]!, [command[1]!, "compile"], { env: { ...process.env, ...env }, stdio: "inherit" });
  return { command, env };
}
