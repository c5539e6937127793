import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A program of another ecosystem that is built from its registry and run on the embedded cluster as it is. */
export interface Peer {
  readonly name: string;
  /** What the sources do not say about the build: versions and flags. Changing it builds again. */
  readonly recipe: string;
  /** The folder with its sources. Default: the one of its name beside this file. */
  readonly sources?: string;
  /** The folder below the user's cache of Konverge that it is built into. Default: peers. */
  readonly cache?: string;
  /** Folders of the repository whose sources it is built from as well. */
  readonly alsoFrom?: readonly string[];
  /** Says whether the toolchain is there, and what to install if not. */
  readonly toolchain: { command: string; install: string };
  /** What is run, relative to the folder it is built into. */
  readonly program: string;
  /** Builds into `target`; `shared` outlives changes of the sources, for what a toolchain keeps between builds. */
  build(places: { sources: string; target: string; shared: string }): void;
}

/** A build that waits for a registry that does not answer must not hold up all the others. */
const STEP_LIMIT = 20 * 60_000;

/** A peer that can be run, or why it cannot. */
export type FoundPeer =
  | { available: true; folder: string; program: string }
  | { available: false; why: string; toolchain: boolean };

/** Where a peer is, if it has been built from its present sources. Cheap enough to call anywhere. */
export function findPeer(peer: Peer): FoundPeer {
  const folder = join(cacheRoot(peer), `${peer.name}-${digest(peer)}`);
  const program = join(folder, peer.program);
  if (existsSync(program)) return { available: true, folder, program };
  const { command, install } = peer.toolchain;
  const toolchain = spawnSync(command, [command === "go" ? "version" : "--version"], { stdio: "ignore" }).status === 0;
  const why = toolchain
    ? `${peer.name} is not built: run "node tools/peers/build.ts ${peer.name}"`
    : `${peer.name} cannot be built without ${command}: ${install}`;
  return { available: false, why, toolchain };
}

/** Builds a peer unless it exists. After an interruption, a folder of the cache is either complete or absent. */
export function buildPeer(peer: Peer): void {
  const root = cacheRoot(peer);
  const target = join(root, `${peer.name}-${digest(peer)}`);
  if (existsSync(join(target, peer.program))) return;
  const shared = join(root, "shared", peer.name);
  mkdirSync(shared, { recursive: true });
  const temporary = mkdtempSync(join(root, `.${peer.name}-`));
  try {
    peer.build({ sources: sourcesOf(peer), target: temporary, shared });
    if (existsSync(join(target, peer.program))) return; // another build was faster
    rmSync(target, { recursive: true, force: true });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Runs a build step; throws with what it said. */
export function step(command: string, args: string[], folder: string, env: Record<string, string> = {}): void {
  output(command, args, folder, env);
}

/** The same for a step whose output is needed. */
export function output(command: string, args: string[], folder: string, env: Record<string, string> = {}): string {
  const result = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: STEP_LIMIT,
    env: { ...process.env, ...env },
  });
  if (result.signal && result.error) {
    throw new Error(
      `${command} ${args.join(" ")} was ended after ${STEP_LIMIT / 60_000} minutes:\n${result.stderr.slice(-4000)}`,
    );
  }
  if (result.error) throw new Error(`cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${result.stderr.slice(-4000)}`);
  return result.stdout;
}

/** `${XDG_CACHE_HOME:-~/.cache}/konverge/peers`, one folder per peer and digest of its sources below it. */
function cacheRoot({ cache = "peers" }: Peer): string {
  const root = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", cache);
  mkdirSync(root, { recursive: true });
  return root;
}

function sourcesOf(peer: Peer): string {
  return peer.sources ?? join(import.meta.dirname, peer.name);
}

/** A folder of the repository, by its path from there. */
export function inRepository(path: string): string {
  return join(import.meta.dirname, "..", "..", path);
}

function digest(peer: Peer): string {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${peer.recipe}`);
  for (const sources of [sourcesOf(peer), ...(peer.alsoFrom ?? []).map(inRepository)]) {
    const files = globSync("**/*", { cwd: sources, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
      // What other tools have built beside the sources.
      if (/\/(__pycache__|target)\//.test(path.slice(sources.length))) continue;
      hash.update(`\0${path.slice(sources.length)}\0`).update(readFileSync(path));
    }
  }
  return hash.digest("hex").slice(0, 16);
}
