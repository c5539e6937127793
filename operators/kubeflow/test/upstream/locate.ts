import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The release of Kubeflow's training operator that says how jobs are run. */
export const UPSTREAM_VERSION = "v1.8.1";
const MODULE = "github.com/kubeflow/training-operator";
const PROGRAM = "training-operator.v1";

/** Upstream's operator, or why there is none. */
export type Upstream =
  | { available: true; program: string /** The manifests that come with it. */; examples: string }
  | { available: false; why: string; buildable: boolean };

/** Where upstream's operator is, if it has been built. */
export function findUpstream(): Upstream {
  const folder = cacheFolder();
  const program = join(folder, PROGRAM);
  if (existsSync(program)) return { available: true, program, examples: join(folder, "examples") };
  const buildable = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
  const why = buildable
    ? `the training operator ${UPSTREAM_VERSION} is not built: run "node operators/kubeflow/test/upstream/build.ts"`
    : `the training operator ${UPSTREAM_VERSION} cannot be built without Go: install it (https://go.dev/dl)`;
  return { available: false, why, buildable };
}

/** Builds it from the Go module proxy, unless it exists. After an interruption the folder is either complete or absent. */
export function buildUpstream(): Upstream {
  const found = findUpstream();
  if (found.available || !found.buildable) return found;
  const target = cacheFolder();
  mkdirSync(join(target, ".."), { recursive: true });
  const temporary = mkdtempSync(`${target}.`);
  try {
    const env = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off", GOBIN: temporary };
    go(["install", "-trimpath", "-ldflags", "-s -w", `${MODULE}/cmd/${PROGRAM}@${UPSTREAM_VERSION}`], temporary, env);
    const { Dir } = JSON.parse(go(["mod", "download", "-json", `${MODULE}@${UPSTREAM_VERSION}`], temporary, env)) as {
      Dir: string;
    };
    const isManifest = (path: string) => !/\.[^./]+$/.test(path.slice(Dir.length)) || path.endsWith(".yaml");
    cpSync(join(Dir, "examples"), join(temporary, "examples"), { recursive: true, filter: isManifest });
    if (!existsSync(target)) renameSync(temporary, target);
  } catch (error) {
    return { available: false, buildable: false, why: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return findUpstream();
}

function go(args: readonly string[], cwd: string, env: Record<string, string>): string {
  const options = { cwd, encoding: "utf8", maxBuffer: 1 << 26, env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr, error } = spawnSync("go", args, options);
  if (error) throw new Error(`cannot run go: ${error.message}`);
  if (status !== 0) throw new Error(`go ${args.join(" ")} failed:\n${stderr.slice(-2000)}`);
  return stdout;
}

/** `${XDG_CACHE_HOME:-~/.cache}/konverge/upstream`, one folder per version and machine below it. */
function cacheFolder(): string {
  const root = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "upstream");
  return join(root, `training-operator-${UPSTREAM_VERSION}-${process.platform}-${process.arch}`);
}
