import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What `go mod download -json` says about a module. */
export interface DownloadedModule {
  Version: string;
  GoMod: string;
  Dir: string;
}

/** Runs the Go command; throws with what it said. */
export function go(folder: string, args: string[], env: Record<string, string> = {}): string {
  // With -mod=mod, Go completes go.mod and go.sum during the build: `go mod tidy` would also fetch what only tests need.
  const result = spawnSync("go", args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod -buildvcs=false", GOWORK: "off", ...env },
  });
  if (result.error) throw new Error(`cannot run go: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`go ${args[0]} failed in ${folder}:\n${result.stderr.slice(-4000)}`);
  return result.stdout;
}

export function downloadModule(folder: string, moduleAtVersion: string): DownloadedModule {
  return JSON.parse(go(folder, ["mod", "download", "-json", moduleAtVersion])) as DownloadedModule;
}

/**
 * Writes the go.mod of a module that can build k8s.io/kubernetes from the module proxy. Kubernetes replaces its
 * staging modules by folders of its repository, which are not in the published module; here each is replaced by
 * the version published with it (v0.36.3 goes with v1.36.3).
 */
export function writeKubernetesModule(folder: string, kubernetes: string): void {
  writeFileSync(join(folder, "go.mod"), "module konverge.dev/real\n");
  const mod = readFileSync(downloadModule(folder, `k8s.io/kubernetes@v${kubernetes}`).GoMod, "utf8");
  const staging = [...mod.matchAll(/^\s*(?:replace\s+)?(\S+) => \.\/staging\//gm)].map((match) => match[1]);
  const published = kubernetes.replace(/^1\./, "0.");
  const settings = mod.split("\n").filter((line) => /^(go|godebug) \S/.test(line));
  const lines = [
    "module konverge.dev/real",
    ...settings,
    `require k8s.io/kubernetes v${kubernetes}`,
    ...staging.map((path) => `replace ${path} => ${path} v${published}`),
  ];
  writeFileSync(join(folder, "go.mod"), `${lines.join("\n")}\n`);
}
