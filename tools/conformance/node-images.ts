import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busybox, type DebianImage, SHELL_TOOLS, SYSTEM_PATH } from "@konverge/nodes";
import { downloadModule, go, writeKubernetesModule } from "@konverge/real/go-module.ts";
import { defaultKubernetesVersion } from "@konverge/real/locate.ts";
import { buildPauseProgram, PAUSE_CONFIG } from "@konverge/real/pause-image.ts";

/** The tools that specs call in agnhost's image, from Debian instead of Alpine. */
const NETWORK_TOOLS = [
  "bash",
  "curl",
  "bind9-dnsutils",
  "iproute2",
  "iputils-ping",
  "netcat-openbsd",
  "hostname",
  "procps",
  // getent
  "libc-bin",
];

/** What makes an image under a name of Kubernetes' test images. */
type Recipe = (name: string) => DebianImage;

/** By repository; of all others there is nothing that could be built here. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  "registry.k8s.io/e2e-test-images/agnhost": (name) => ({
    name,
    packages: [...SHELL_TOOLS, ...NETWORK_TOOLS],
    config: { Env: [`PATH=${SYSTEM_PATH}`], Entrypoint: ["/agnhost"], Cmd: ["pause"] },
    contents: [defaultKubernetesVersion],
    finish: addAgnhost,
  }),
  "registry.k8s.io/e2e-test-images/busybox": (name) => ({ ...busybox, name }),
  "registry.k8s.io/e2e-test-images/glibc-dns-testing": (name) => ({
    name,
    packages: [...SHELL_TOOLS, "bash", "bind9-dnsutils", "hostname", "libc-bin"],
    config: { Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["bash"] },
  }),
  "registry.k8s.io/e2e-test-images/nginx": (name) => ({
    name,
    packages: ["nginx-light", ...SHELL_TOOLS],
    config: { Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["nginx", "-g", "daemon off;"] },
    finish: serveStaticFiles,
  }),
  "registry.k8s.io/e2e-test-images/nonewprivs": (name) => ({
    name,
    packages: SHELL_TOOLS,
    config: { Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["nnp"] },
    contents: [defaultKubernetesVersion],
    finish: addSetuidProgram,
  }),
  "registry.k8s.io/pause": (name) => ({
    name,
    packages: [],
    config: PAUSE_CONFIG,
    finish: (root) => inModule((work) => buildPauseProgram(work, join(root, "pause"))),
  }),
};

/** The images of specs that can be made here, of those that e2e.test lists. */
export function nodeImages(listed: readonly string[]): DebianImage[] {
  return listed.flatMap((name) => {
    const recipe = RECIPES[name.slice(0, name.lastIndexOf(":"))];
    return recipe ? [recipe(name)] : [];
  });
}

/** Why the images that can be made here do not serve a spec; undefined if they do. */
export function whyNotOnNodes(spec: string): string | undefined {
  return spec.includes("ImageVolume should succeed with pod and pull policy of Always")
    ? "it pulls an image (kitten) although the node has it, and there is no registry"
    : undefined;
}

/** The program under both of its names, and the files that it serves and writes. */
function addAgnhost(root: string): void {
  inModule((work) => {
    buildProgram(work, "agnhost", join(root, "agnhost"));
    const { Dir } = downloadModule(work, `k8s.io/kubernetes@v${defaultKubernetesVersion}`);
    for (const file of ["localhost.crt", "localhost.key"])
      copyFileSync(join(Dir, "test/images/agnhost/porter", file), join(root, file));
  });
  symlinkSync("agnhost", join(root, "agnhost-2"));
  // Debian links the chosen netcat when it is installed.
  symlinkSync("nc.openbsd", join(root, "usr/bin/nc"));
  mkdirSync(join(root, "uploads"));
}

/** A setuid program: it runs as root for every user, unless the container must not gain privileges. */
function addSetuidProgram(root: string): void {
  const file = join(root, "usr/local/bin/nnp");
  mkdirSync(join(root, "usr/local/bin"), { recursive: true });
  inModule((work) => buildProgram(work, "nonewprivs", file));
  chmodSync(file, 0o6755);
}

/** Builds a program of Kubernetes' test images from the Go module proxy. */
function buildProgram(work: string, program: string, file: string): void {
  go(work, ["build", "-ldflags", "-s -w", "-o", file, `k8s.io/kubernetes/test/images/${program}`]);
}

/** A folder with a module that can build parts of Kubernetes, for as long as `build` takes. */
function inModule(build: (work: string) => void): void {
  const work = mkdtempSync(join(tmpdir(), "konverge-test-image-"));
  try {
    writeKubernetesModule(work, defaultKubernetesVersion);
    build(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Debian's nginx logs to files and serves another folder. */
function serveStaticFiles(root: string): void {
  const pages = join(root, "usr/share/nginx/html");
  mkdirSync(pages, { recursive: true });
  writeFileSync(join(pages, "index.html"), "<html><head><title>Welcome to nginx!</title></head></html>\n");
  mkdirSync(join(root, "var/log/nginx"), { recursive: true });
  for (const [log, stream] of Object.entries({ access: "stdout", error: "stderr" }))
    symlinkSync(`/dev/${stream}`, join(root, `var/log/nginx/${log}.log`));
  for (const folder of ["var/lib/nginx", "run"]) mkdirSync(join(root, folder), { recursive: true });
  const server = "server { listen 80; root /usr/share/nginx/html; index index.html; }";
  writeFileSync(
    join(root, "etc/nginx/nginx.conf"),
    `worker_processes 1;\nevents {}\nhttp { include mime.types; access_log /dev/stdout; ${server} }\n`,
  );
}
