import { accessSync, chmodSync, constants, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { kubernetesFacts } from "@konverge/kinds";
import { makeFolder } from "../make-folder.ts";
import { startedCommand } from "../started-files.ts";

/** What the launchers are made for. */
export interface AssetOptions {
  /** The built-in controllers, the scheduler and simulated nodes run as well. */
  readonly controllers: boolean;
  /** Their containers of images that are not registered seem to run as well. Default: they cannot be pulled. */
  readonly anyImage?: boolean;
  /** Images that are registered: their containers seem to run. */
  readonly images?: readonly string[];
  /** The minor version of Kubernetes that is served. Default: the default one. */
  readonly kubernetes?: string;
  /** Default: ~/.konverge/envtest, or under $KONVERGE_HOME. */
  readonly folder?: string;
}

/**
 * Writes a folder for KUBEBUILDER_ASSETS: `kube-apiserver`, `etcd` and `kubectl`, of which the first is the embedded
 * cluster and the second a formality. Returns its path.
 */
export function writeAssets({ controllers, anyImage = false, images = [], kubernetes, folder }: AssetOptions): string {
  if (process.platform === "win32") {
    throw new Error("on Windows, envtest starts .exe files only: run the suite in WSL, or against `konverge up`");
  }
  // A version that is not served fails here, not in the suite.
  kubernetesFacts(kubernetes);
  const home = process.env["KONVERGE_HOME"] ?? join(homedir(), ".konverge");
  const name = controllers ? "envtest-controllers" : "envtest";
  const path = folder ?? join(home, kubernetes === undefined ? name : `${name}-${kubernetes}`);
  makeFolder(path, folder === undefined ? `the folder ${path}` : `--folder ${path}`);
  const started = (name: Parameters<typeof startedCommand>[0]) => startedCommand(name).map(quoted).join(" ");
  const named = images.map((image) => ` --image ${quoted(image)}`).join("");
  const more = ` --controllers${anyImage ? " --no-strict-images" : ""}${named}`;
  const program = controllers ? `${started("konverge")} envtest-apiserver${more} --` : started("envtest-apiserver");
  const version = kubernetes === undefined ? "" : ` --kubernetes=${quoted(kubernetes)}`;
  launcher(join(path, "kube-apiserver"), `exec ${program}${version} "$@"`);
  launcher(join(path, "etcd"), `exec ${started("envtest-etcd")} "$@"`);
  const kubectl = findInPath("kubectl", path);
  launcher(
    join(path, "kubectl"),
    kubectl
      ? `exec ${quoted(kubectl)} "$@"`
      : 'echo "kubectl was not in PATH when \\`konverge envtest\\` ran: install it and run that again" >&2; exit 1',
  );
  return path;
}

function launcher(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function findInPath(name: string, except: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder === "" || folder === except) continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there, or not ours to run.
    }
  }
  return undefined;
}
