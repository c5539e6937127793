import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packagedFile } from "../../packaged-files.ts";

/** The version of Helm whose engine renders. */
export const HELM_VERSION = "4.3.1";

/** The engine among the data of the published package. */
export const ENGINE = "helm-engine.wasm.gz";

/** The Go program around Helm's engine. */
export const ENGINE_SOURCES: string = fileURLToPath(new URL("../../../engine/helm", import.meta.url));

/** Where builds are kept, for all versions. */
export function engineCache(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "helm");
}

/** The compiled engine of these sources, whether it has been built or not. */
export function builtEngine(): string {
  const digest = createHash("sha256");
  for (const name of globSync("**/*.{go,mod,sum,txt}", { cwd: ENGINE_SOURCES }).sort()) {
    digest.update(`${name}\n`).update(readFileSync(join(ENGINE_SOURCES, name)));
  }
  return join(engineCache(), `engine-${HELM_VERSION}-${digest.digest("hex").slice(0, 12)}.wasm.gz`);
}

/** The engine that comes with the package, or was built here. Throws if there is none. */
export function engineFile(): string {
  const packaged = packagedFile(ENGINE);
  if (existsSync(packaged)) return packaged;
  const built = builtEngine();
  if (existsSync(built)) return built;
  throw new Error(
    `Helm's engine is not built: run "npm run helm:build" in the repository, which needs Go (a minute, once)`,
  );
}
