import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { inRepository, output, type Peer, step } from "./peer.ts";

const HELM = "v3.22.0";

export const goToolchain = { command: "go", install: "install Go 1.26 or newer (https://go.dev/dl)" };
export const goEnvironment = { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly -buildvcs=false", GOWORK: "off" };

/** An operator in Go on controller-runtime. */
export const controllerRuntime: Peer = {
  name: "controller-runtime",
  recipe: "go build",
  toolchain: goToolchain,
  program: "operator",
  build({ sources, target }) {
    step("go", ["build", "-trimpath", "-o", join(target, "operator"), "."], sources, goEnvironment);
  },
};

/** An operator in Go on controller-runtime with mistakes that public operators have made, to be explored. */
export const exploredOperator: Peer = { ...controllerRuntime, name: "explored-operator" };

/** The package manager, as its authors publish it. */
export const helm: Peer = {
  name: "helm",
  recipe: HELM,
  toolchain: goToolchain,
  program: "helm",
  build({ target }) {
    const flags = ["-trimpath", "-ldflags", `-s -w -X helm.sh/helm/v3/internal/version.version=${HELM}`];
    const env = { ...goEnvironment, GOFLAGS: "-buildvcs=false", GOBIN: target };
    step("go", ["install", ...flags, `helm.sh/helm/v3/cmd/helm@${HELM}`], target, env);
  },
};

/** An operator in Python on kopf. */
export const kopf: Peer = {
  name: "kopf",
  recipe: "pip install --target",
  toolchain: { command: "python3", install: "install Python 3.10 or newer with pip" },
  program: "operator.py",
  build({ sources, target }) {
    const packages = join(target, "packages");
    step("python3", ["-m", "pip", "install", "-q", "--target", packages, "-r", "requirements.txt"], sources);
    copyFileSync(join(sources, "operator.py"), join(target, "operator.py"));
  },
};

/** An operator in Rust on kube-rs. */
export const kubeRs: Peer = {
  name: "kube-rs",
  recipe: "cargo build",
  toolchain: { command: "cargo", install: "install Rust 1.89 or newer (https://rustup.rs)" },
  program: "operator",
  build({ sources, target, shared }) {
    step("cargo", ["build", "--locked"], sources, { CARGO_TARGET_DIR: shared });
    copyFileSync(join(shared, "debug", "peer-kube-rs"), join(target, "operator"));
  },
};

/** Tests in Go on controller-runtime, with the module that starts the single executable. */
export const goSuite: Peer = {
  name: "go-suite",
  recipe: "go test -c",
  alsoFrom: ["packages/envtest-go"],
  toolchain: goToolchain,
  program: "suite.test",
  build({ sources, target }) {
    step("go", ["test", "-c", "-trimpath", "-o", join(target, "suite.test"), "."], sources, goEnvironment);
    const module = inRepository("packages/envtest-go");
    step("go", ["test", "-c", "-trimpath", "-o", join(target, "module.test"), "."], module, goEnvironment);
  },
};

/** Tests in Python on the official client, with the pytest fixture that starts the single executable. */
export const pytestSuite: Peer = {
  name: "pytest-suite",
  recipe: "pip install --target",
  alsoFrom: ["packages/pytest-konverge"],
  toolchain: kopf.toolchain,
  program: "test_suite.py",
  build({ sources, target }) {
    const plugin = join(target, "plugin");
    // setuptools writes beside what it builds.
    cpSync(inRepository("packages/pytest-konverge"), plugin, { recursive: true });
    const packages = ["-r", join(sources, "requirements.txt"), plugin];
    step("python3", ["-m", "pip", "install", "-q", "--target", join(target, "packages"), ...packages], target);
    copyFileSync(join(sources, "test_suite.py"), join(target, "test_suite.py"));
  },
};

/** The crate that starts the single executable, with its tests. */
export const rustCrate: Peer = {
  name: "rust-crate",
  recipe: "cargo test --no-run",
  sources: inRepository("packages/envtest-rust"),
  toolchain: kubeRs.toolchain,
  program: "crate.test",
  build({ sources, target, shared }) {
    const args = ["test", "--locked", "--no-run", "--test", "cluster", "--message-format", "json"];
    const lines = output("cargo", args, sources, { CARGO_TARGET_DIR: shared }).split("\n");
    const built = lines.flatMap((line) => /"executable":"([^"]+)"/.exec(line)?.[1] ?? []).at(-1);
    if (!built) throw new Error(`cargo ${args.join(" ")} names no executable`);
    copyFileSync(built, join(target, "crate.test"));
  },
};

const MAVEN_CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:build-classpath";

/** Tests in Java on the Java Operator SDK, with the JUnit extension that starts the single executable. */
export const junitSuite: Peer = {
  name: "junit-suite",
  recipe: "mvn test-compile",
  alsoFrom: ["packages/junit-konverge"],
  toolchain: { command: "mvn", install: "install Maven 3.8 or newer with a JDK 17 or newer" },
  program: "classpath",
  build({ sources, target }) {
    // Maven writes beside what it builds; the suite finds the extension where it is in the repository.
    const suite = join(target, "tools", "peers", "junit-suite");
    const copy = (from: string, to: string) =>
      cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== "target" });
    copy(inRepository("packages/junit-konverge"), join(target, "packages", "junit-konverge"));
    copy(sources, suite);
    const options = ["-Dmdep.outputFile=classpath.txt", "-Dmdep.includeScope=test"];
    step("mvn", ["-B", "-q", "test-compile", MAVEN_CLASSPATH, ...options], suite);
    const entries = readFileSync(join(suite, "operator", "classpath.txt"), "utf8").split(":");
    const own = ["packages/junit-konverge", "tools/peers/junit-suite/operator"].map((one) => `@/${one}/target/classes`);
    // This folder gets its final name afterwards: `@` stands for it.
    writeFileSync(join(target, "classpath"), [...own, ...entries.filter((one) => !one.startsWith(target))].join(":"));
    const [, home] = /runtime: (.+)$/m.exec(output("mvn", ["--version"], suite)) ?? [];
    writeFileSync(join(target, "java"), join(home ?? "", "bin", "java"));
  },
};

/** A program in JavaScript on the official client. */
export const clientNode: Peer = {
  name: "client-node",
  recipe: "npm ci",
  toolchain: { command: "npm", install: "install Node with npm" },
  program: "program.mjs",
  build({ sources, target }) {
    cpSync(sources, target, { recursive: true });
    step("npm", ["ci", "--no-fund", "--no-audit", "--loglevel=error"], target);
  },
};

export const PEERS: readonly Peer[] = [
  controllerRuntime,
  exploredOperator,
  helm,
  kopf,
  kubeRs,
  clientNode,
  goSuite,
  pytestSuite,
  rustCrate,
  junitSuite,
];
