import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The version the embedded server speaks, and so the one it is compared with. */
export const defaultKubernetesVersion = "1.36.3";

/** Raised when flags or contents of a build change, so that folders of an older recipe are built again. */
export const buildRecipe = 1;

export type AssetName =
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubectl"
  | "etcd"
  | "kwok"
  | "e2e.test";

/** What a cluster cannot start without; the rest is needed only for the options that ask for it. */
const indispensable: AssetName[] = ["kube-apiserver", "etcd", "kubectl"];
const allAssets: AssetName[] = [...indispensable, "kube-controller-manager", "kube-scheduler", "kwok", "e2e.test"];

export type ControlPlane =
  | {
      available: true;
      kubernetes: string;
      /** Folder that holds the binaries. */
      folder: string;
      /** Path of each binary that is there. */
      assets: Partial<Record<AssetName, string>>;
      /** Assets that are not there; options that need them throw. */
      absent: AssetName[];
      /** The files with KWOK's `Stage` objects: the behavior of nodes and pods. */
      stages: string[];
    }
  | { available: false; why: string };

/** `${XDG_CACHE_HOME:-~/.cache}/konverge/real`, one folder per version and machine type below it. */
export function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konverge", "real");
}

export function goArchitecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

export function cacheFolder(kubernetes: string): string {
  return join(cacheRoot(), `v${kubernetes}-${process.platform}-${goArchitecture()}`);
}

/** Where the control plane is, or why there is none. Reads a few directory entries: cheap enough to call anywhere. */
export function findControlPlane(kubernetes = defaultKubernetesVersion): ControlPlane {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given && kubernetes === defaultKubernetesVersion) return describe(given, versionOf(given));
  const folder = cacheFolder(kubernetes);
  if (!isUpToDate(folder)) {
    const flag = kubernetes === defaultKubernetesVersion ? "" : ` -- --kubernetes ${kubernetes}`;
    const how = hasGo()
      ? `run "npm run real:build${flag}" (about 12 minutes on two cores, once)`
      : `install Go and run "npm run real:build${flag}", or set KUBEBUILDER_ASSETS to a folder with kube-apiserver, etcd and kubectl`;
    return { available: false, why: `no real Kubernetes ${kubernetes} control plane on this machine: ${how}` };
  }
  return describe(folder, kubernetes);
}

/** A folder counts only with the stamp that is written last. */
export function isUpToDate(folder: string): boolean {
  const stamp = join(folder, "build.json");
  if (!existsSync(stamp)) return false;
  return (JSON.parse(readFileSync(stamp, "utf8")) as { recipe?: number }).recipe === buildRecipe;
}

export function hasGo(): boolean {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function describe(folder: string, kubernetes: string): ControlPlane {
  const assets: Partial<Record<AssetName, string>> = {};
  for (const name of allAssets) {
    const path = join(folder, name);
    if (isExecutable(path)) assets[name] = path;
  }
  const absent = allAssets.filter((name) => !assets[name]);
  const missing = indispensable.filter((name) => absent.includes(name));
  if (missing.length > 0) return { available: false, why: `${folder} has no ${missing.join(", ")}` };
  const stageFolder = join(folder, "kwok-stages");
  const stages = existsSync(stageFolder)
    ? readdirSync(stageFolder)
        .sort()
        .map((name) => join(stageFolder, name))
    : [];
  return { available: true, kubernetes, folder, assets, absent, stages };
}

function isExecutable(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

function versionOf(folder: string): string {
  try {
    const said = execFileSync(join(folder, "kube-apiserver"), ["--version"], { encoding: "utf8" });
    return said.trim().replace(/^Kubernetes v/, "");
  } catch {
    return "unknown";
  }
}
