import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildPeer, findPeer, goEnvironment, goToolchain, type Peer, step } from "@konverge/peers";
import { konvergeProgram, type Program } from "./konverge-program.ts";

/** An operator of the comparison. */
export interface Contestant {
  readonly name: string;
  /** What it is built on, with its version. */
  readonly version: string;
  /** Whether it is measured with many ConfigMaps. */
  readonly caches: boolean;
  /** Builds it if it has not been built from its present sources; throws with the reason if that is not possible. */
  program(): Program | Promise<Program>;
}

const here = import.meta.dirname;

/** The version that a manifest pins. */
function pinned(path: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(join(here, path), "utf8")) ?? [];
  if (!version) throw new Error(`bench/operator/${path} has no version that matches ${pattern}`);
  return version;
}

/** The folder that a program of another ecosystem has been built into, keyed by its sources, which pin its versions. */
function built(peer: Omit<Peer, "sources" | "cache">): string {
  const located: Peer = { ...peer, sources: join(here, peer.name), cache: "bench" };
  const found = findPeer(located);
  if (found.available) return found.folder;
  if (!found.toolchain) throw new Error(found.why);
  console.log(`building ${peer.name}`);
  buildPeer(located);
  const after = findPeer(located);
  if (!after.available) throw new Error(after.why);
  return after.folder;
}

function goProgram(name: string): string {
  const folder = built({
    name,
    recipe: "go build",
    toolchain: goToolchain,
    program: "operator",
    build({ sources, target }) {
      step("go", ["build", "-trimpath", "-o", join(target, "operator"), "."], sources, goEnvironment);
    },
  });
  return join(folder, "operator");
}

function kubeRsProgram(): Program {
  const folder = built({
    name: "kube-rs",
    recipe: "cargo build --release",
    toolchain: { command: "cargo", install: "install Rust 1.89 or newer (https://rustup.rs)" },
    program: "operator",
    build({ sources, target, shared }) {
      step("cargo", ["build", "--release", "--locked"], sources, { CARGO_TARGET_DIR: shared });
      copyFileSync(join(shared, "release", "operator"), join(target, "operator"));
    },
  });
  return { command: [join(folder, "operator")], env: {} };
}

function javaProgram(): Program {
  const folder = built({
    name: "java-operator-sdk",
    recipe: "mvn compile dependency:copy-dependencies",
    toolchain: { command: "mvn", install: "install a JDK 17 or newer and Maven" },
    program: "classes/dev/konverge/bench/Main.class",
    build({ sources, target, shared }) {
      const places = [`-Dmaven.repo.local=${shared}`, `-Dtarget=${target}`, `-DoutputDirectory=${join(target, "lib")}`];
      const goals = ["compile", "dependency:copy-dependencies", "-DincludeScope=runtime"];
      step("mvn", ["-q", "-B", ...places, ...goals], sources);
    },
  });
  const classes = [join(folder, "classes"), join(folder, "lib", "*")].join(":");
  const log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";
  // The key in the kubeconfig has an elliptic curve; the client assumes RSA.
  const key = "-Dkubernetes.certs.client.key.algo=EC";
  return { command: ["java", log, key, "-cp", classes, "dev.konverge.bench.Main"], env: {} };
}

function clientNodeProgram(): Program {
  const folder = built({
    name: "client-node",
    recipe: "npm ci",
    toolchain: { command: "npm", install: "install Node with npm" },
    program: "operator.js",
    build({ sources, target }) {
      cpSync(sources, target, { recursive: true });
      step("npm", ["ci", "--no-fund", "--no-audit", "--loglevel=error"], target);
    },
  });
  return { command: [process.execPath, join(folder, "operator.js")], env: {} };
}

function kopfProgram(): Program {
  const folder = built({
    name: "kopf",
    recipe: "pip install --target",
    toolchain: { command: "python3", install: "install Python 3.10 or newer with pip" },
    program: "operator.py",
    build({ sources, target }) {
      const packages = join(target, "packages");
      step("python3", ["-m", "pip", "install", "-q", "--target", packages, "-r", "requirements.txt"], sources);
      copyFileSync(join(sources, "operator.py"), join(target, "operator.py"));
    },
  });
  // A version manager's python3 is a shell script that takes longer to start than Python does.
  const print = ["-c", "import sys; print(sys.executable)"];
  const python = execFileSync("python3", print, { encoding: "utf8" }).trim();
  return { command: [python, join(folder, "operator.py")], env: { PYTHONPATH: join(folder, "packages") } };
}

const clientGo = `client-go ${pinned("limit/go.mod", /client-go v(\S+)/)}`;

/** In the order of the table's columns. */
export const CONTESTANTS: readonly Contestant[] = [
  {
    name: "konverge",
    version: `Konverge, Node ${process.versions.node}`,
    caches: true,
    program: konvergeProgram,
  },
  {
    name: "controller-runtime",
    version: `controller-runtime ${pinned("controller-runtime/go.mod", /controller-runtime v(\S+)/)}`,
    caches: true,
    program: () => ({ command: [goProgram("controller-runtime")], env: {} }),
  },
  {
    name: "kube-rs",
    version: `kube ${pinned("kube-rs/Cargo.toml", /^kube = .*version = "([^"]+)"/m)}`,
    caches: true,
    program: kubeRsProgram,
  },
  {
    name: "java-operator-sdk",
    version: `Java Operator SDK ${pinned("java-operator-sdk/pom.xml", /operator-framework<\/artifactId>\s*<version>([^<]+)/)}`,
    caches: true,
    program: javaProgram,
  },
  {
    name: "client-node",
    version: `@kubernetes/client-node ${pinned("client-node/package.json", /client-node": "([^"]+)"/)}`,
    caches: true,
    program: clientNodeProgram,
  },
  {
    name: "kopf",
    version: `kopf ${pinned("kopf/requirements.txt", /^kopf==(\S+)/m)}`,
    // An index of 5,000 objects was not complete after six minutes.
    caches: false,
    program: kopfProgram,
  },
  {
    name: "limit",
    version: clientGo,
    caches: false,
    program: () => ({ command: [goProgram("limit"), "create"], env: {} }),
  },
  {
    name: "limit-ssa",
    version: clientGo,
    caches: false,
    program: () => ({ command: [goProgram("limit"), "apply"], env: {} }),
  },
];
