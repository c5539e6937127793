// npm run real:build [-- --kubernetes 1.34.4] [--e2e] [--node]
// Builds the real control plane from the Go module proxy, or says what KUBEBUILDER_ASSETS offers instead.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { downloadModule, go, writeKubernetesModule } from "./go-module.ts";
import {
  buildRecipe,
  type ControlPlane,
  cacheFolder,
  cacheRoot,
  defaultKubernetesVersion,
  findControlPlane,
  hasGo,
  isUpToDate,
} from "./locate.ts";
import { buildPauseImage } from "./pause-image.ts";

const kwokVersion = "0.8.0";

/** The behavior of KWOK's nodes and pods; folders of the KWOK module. */
const kwokStages = ["node/fast", "node/heartbeat-with-lease", "pod/fast"];

/** What a real node needs besides packages of the distribution. */
const NODE_FILES = ["kubelet", "kube-proxy", "pause.tar"];

const { values: options } = parseArgs({
  options: {
    kubernetes: { type: "string", default: defaultKubernetesVersion },
    e2e: { type: "boolean", default: false },
    /** kubelet, kube-proxy and the pause image, for real nodes. */
    node: { type: "boolean", default: false },
  },
});

try {
  main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function main({ kubernetes, e2e, node }: typeof options): void {
  const given = process.env.KUBEBUILDER_ASSETS && kubernetes === defaultKubernetesVersion;
  const folder = cacheFolder(kubernetes);
  const complete = isUpToDate(folder);
  if (!given && (!complete || (e2e && !existsSync(join(folder, "e2e.test"))))) {
    if (!hasGo()) throw new Error((findControlPlane(kubernetes) as { why: string }).why);
    if (!complete) buildInto(folder, (temporary) => buildControlPlane(kubernetes, temporary));
    if (e2e) buildE2e(kubernetes, folder);
  }
  // What KUBEBUILDER_ASSETS offers has no kubelet.
  if (node && NODE_FILES.some((name) => !existsSync(join(folder, name)))) {
    if (!hasGo()) throw new Error("kubelet and kube-proxy are built with Go, which is not installed");
    buildNode(kubernetes, folder);
  }
  report(findControlPlane(kubernetes));
}

function report(plane: ControlPlane): void {
  if (!plane.available) throw new Error(plane.why);
  console.log(`Kubernetes ${plane.kubernetes} control plane in ${plane.folder}`);
  const absent = plane.absent.filter((name) => name !== "e2e.test");
  if (absent.length > 0) console.log(`Not there, so tests that need it are skipped: ${absent.join(", ")}`);
}

function buildControlPlane(kubernetes: string, folder: string): void {
  const work = join(folder, "src");
  mkdirSync(work);
  writeKubernetesModule(work, kubernetes);
  const ldflags = versionFlags(kubernetes);
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]) {
    step(`building ${name}`, () =>
      go(work, ["build", ...ldflags, "-o", join(folder, name), `k8s.io/kubernetes/cmd/${name}`]),
    );
  }
  step("building etcd", () => go(work, ["build", ...ldflags, "-o", join(folder, "etcd"), "go.etcd.io/etcd/server/v3"]));
  step("building kwok", () => {
    go(work, ["install", "-trimpath", "-ldflags", "-s -w", `sigs.k8s.io/kwok/cmd/kwok@v${kwokVersion}`], {
      GOBIN: folder,
    });
    copyStages(work, join(folder, "kwok-stages"));
  });
}

function buildNode(kubernetes: string, folder: string): void {
  inModule(kubernetes, (work) => {
    for (const name of ["kubelet", "kube-proxy"]) {
      step(`building ${name}`, () =>
        go(work, ["build", ...versionFlags(kubernetes), "-o", join(work, name), `k8s.io/kubernetes/cmd/${name}`]),
      );
    }
    step("building the pause image", () => buildPauseImage(work, join(work, "pause.tar")));
    mkdirSync(folder, { recursive: true });
    for (const name of NODE_FILES) renameSync(join(work, name), join(folder, name));
  });
}

/** Takes minutes and half a gigabyte, and only the conformance runs need it. */
function buildE2e(kubernetes: string, folder: string): void {
  inModule(kubernetes, (work) => {
    const built = join(work, "e2e.test");
    step("building e2e.test", () =>
      go(work, ["test", "-c", ...versionFlags(kubernetes), "-o", built, "k8s.io/kubernetes/test/e2e"]),
    );
    renameSync(built, join(folder, "e2e.test"));
  });
}

/** A folder with a module that can build Kubernetes, for as long as `build` takes. */
function inModule(kubernetes: string, build: (work: string) => void): void {
  mkdirSync(cacheRoot(), { recursive: true });
  const work = mkdtempSync(join(cacheRoot(), ".module-"));
  try {
    writeKubernetesModule(work, kubernetes);
    build(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A folder is complete or absent, even after an interruption and with parallel builds. */
function buildInto(folder: string, build: (temporary: string) => void): void {
  mkdirSync(cacheRoot(), { recursive: true });
  removeAbandonedBuilds();
  const temporary = mkdtempSync(join(cacheRoot(), `.${basename(folder)}-`));
  try {
    build(temporary);
    writeFileSync(join(temporary, "build.json"), `${JSON.stringify({ recipe: buildRecipe, kwok: kwokVersion })}\n`);
    if (isUpToDate(folder)) return; // another build was faster
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** An interrupted build leaves its folder behind; no build takes a day. */
function removeAbandonedBuilds(): void {
  for (const name of readdirSync(cacheRoot())) {
    const path = join(cacheRoot(), name);
    const age = Date.now() - statSync(path).mtimeMs;
    if (name.startsWith(".") && age > 24 * 3600 * 1000) rmSync(path, { recursive: true, force: true });
  }
}

/** Without these the binaries call themselves v0.0.0-master+$Format:%H$, which clients cannot parse. */
function versionFlags(kubernetes: string): string[] {
  const [major, minor] = kubernetes.split(".");
  const values = { gitVersion: `v${kubernetes}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const flags = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ["-trimpath", "-ldflags", ["-s -w", ...flags].join(" ")];
}

function copyStages(work: string, target: string): void {
  mkdirSync(target);
  const source = downloadModule(work, `sigs.k8s.io/kwok@v${kwokVersion}`).Dir;
  for (const stage of kwokStages) {
    const folder = join(source, "kustomize", "stage", stage);
    for (const name of readdirSync(folder)) {
      if (name.endsWith(".yaml") && name !== "kustomization.yaml") copyFileSync(join(folder, name), join(target, name));
    }
  }
  // Files of the module cache are read-only, and so are their copies.
  spawnSync("chmod", ["-R", "u+w", target]);
}

function step(what: string, run: () => void): void {
  const begin = Date.now();
  process.stderr.write(`${what} …`);
  run();
  process.stderr.write(` ${Math.round((Date.now() - begin) / 1000)} s\n`);
}
