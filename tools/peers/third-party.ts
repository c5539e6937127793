import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import { realClock } from "@konverge/core";
import { type ProgramScenario, parseScenario } from "@konverge/testing";
import { goEnvironment, goToolchain, kopf } from "./catalogue.ts";
import { buildPeer, findPeer, output, type Peer, step } from "./peer.ts";

/** An operator of another project, built from the registry where it is published, without any change. */
export interface ThirdParty {
  readonly peer: Peer;
  readonly version: string;
  /** Files in `explored-scenarios`, without `.yaml`. File names in them are relative to the folder that the peer is built into. */
  readonly scenarios: readonly string[];
  /** The shell command that starts it, given the folder that it is built into. */
  command(folder: string): string;
  /** Creates what it expects on its machine. */
  prepare?(): void;
}

const TRAINING_OPERATOR = "v1.8.1";
const ARGO_ROLLOUTS = "v1.8.3";
const CERT_MANAGER = "v1.11.5";
const KOPF = "1.45.2";

/** Where the training operator looks for the certificate of its webhooks, wherever it runs: there is no flag. */
const CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs";

/** Kubeflow's operator for PyTorchJobs and others, in Go on controller-runtime. */
const trainingOperator: ThirdParty = {
  version: TRAINING_OPERATOR,
  peer: {
    name: "training-operator",
    recipe: `go build ${TRAINING_OPERATOR}`,
    toolchain: goToolchain,
    program: "operator",
    build: (places) =>
      goModule(places.target, {
        module: `github.com/kubeflow/training-operator@${TRAINING_OPERATOR}`,
        main: "./cmd/training-operator.v1",
        crds: "manifests/base/crds/kubeflow.org_*.yaml",
      }),
  },
  scenarios: ["training-operator-suspend", "training-operator-complete"],
  command: (folder) =>
    `port=$((18400 + 2 * KONVERGE_WORKER)); MY_POD_NAMESPACE=kubeflow exec '${join(folder, "operator")}' ` +
    "--metrics-bind-address=0 --health-probe-bind-address=127.0.0.1:$port --webhook-server-port=$((port + 1)) " +
    "--enable-scheme=PyTorchJob",
  prepare() {
    if (existsSync(join(CERTIFICATES, "tls.crt"))) return;
    mkdirSync(CERTIFICATES, { recursive: true });
    const { cert, key } = createAuthority(realClock()).server("training-operator", ["127.0.0.1"]);
    writeFileSync(join(CERTIFICATES, "tls.crt"), cert);
    writeFileSync(join(CERTIFICATES, "tls.key"), key);
  },
};

/** Argo's controller for canary and blue-green rollouts, in Go on client-go. */
const argoRollouts: ThirdParty = {
  version: ARGO_ROLLOUTS,
  peer: {
    name: "argo-rollouts",
    recipe: `go build ${ARGO_ROLLOUTS}`,
    toolchain: goToolchain,
    program: "operator",
    build: (places) =>
      goModule(places.target, {
        module: `github.com/argoproj/argo-rollouts@${ARGO_ROLLOUTS}`,
        main: "./cmd/rollouts-controller",
        crds: "manifests/crds/*-crd.yaml",
      }),
  },
  scenarios: ["argo-rollouts-canary"],
  command: (folder) =>
    `port=$((18500 + 2 * KONVERGE_WORKER)); exec '${join(folder, "operator")}' --leader-elect=false ` +
    "--metricsport=$port --healthzPort=$((port + 1)) --loglevel=error",
};

/** cert-manager's controller for certificates, in Go on client-go; its last minor version whose programs are in the module itself. */
const certManager: ThirdParty = {
  version: CERT_MANAGER,
  peer: {
    name: "cert-manager",
    recipe: `go build ${CERT_MANAGER}`,
    toolchain: goToolchain,
    program: "operator",
    build({ target }) {
      goModule(target, {
        module: `github.com/cert-manager/cert-manager@${CERT_MANAGER}`,
        main: "./cmd/controller",
        crds: "deploy/crds/crd-*.yaml",
      });
      // Its chart fills in labels.
      for (const file of globSync("crds/*.yaml", { cwd: target })) {
        const path = join(target, file);
        writeFileSync(
          path,
          readFileSync(path, "utf8")
            .replace(/^.*\{\{.*\n/gm, "")
            .replace(/^ {2}labels:\n/m, ""),
        );
      }
    },
  },
  scenarios: ["cert-manager-issue"],
  command: (folder) =>
    `exec '${join(folder, "operator")}' --kubeconfig="$KUBECONFIG" --leader-elect=false --metrics-listen-address=127.0.0.1:$((18600 + KONVERGE_WORKER))`,
};

/** The example operators that kopf is published with. */
const kopfExamples: ThirdParty = {
  version: KOPF,
  peer: {
    name: "kopf-examples",
    recipe: `pip ${KOPF}`,
    toolchain: kopf.toolchain,
    program: "examples/02-children/example.py",
    build({ target }) {
      const pip = (...args: string[]) => step("python3", ["-m", "pip", ...args], target);
      pip("install", "-q", "--target", "packages", `kopf==${KOPF}`, "pykube-ng==23.6.0", "pyyaml");
      pip("download", "-q", "--no-deps", "--no-binary", "kopf", "-d", "source", `kopf==${KOPF}`);
      const [archive] = globSync("source/*.tar.gz", { cwd: target });
      step("tar", ["-xzf", archive!, "--strip-components=1", "--wildcards", "*/examples"], target);
    },
  },
  scenarios: ["kopf-children"],
  command: (folder) =>
    `PYTHONPATH='${join(folder, "packages")}' exec python3 -m kopf run --standalone -A '${join(folder, "examples/02-children/example.py")}'`,
};

export const THIRD_PARTIES: readonly ThirdParty[] = [trainingOperator, argoRollouts, certManager, kopfExamples];

/** A scenario by its name, and how the operator is started that it is about; it is built first. */
export function thirdPartyScenario(name: string): { command: string; scenario: ProgramScenario; folder: string } {
  const third = THIRD_PARTIES.find(({ scenarios }) => scenarios.includes(name));
  if (!third) throw new Error(`no scenario is called ${name}`);
  buildPeer(third.peer);
  const found = findPeer(third.peer);
  if (!found.available) throw new Error(found.why);
  third.prepare?.();
  const { folder } = found;
  const text = readFileSync(join(import.meta.dirname, "explored-scenarios", `${name}.yaml`), "utf8");
  // The files that it names come with the operator.
  return { command: third.command(folder), scenario: parseScenario(text, join(folder, `${name}.yaml`)), folder };
}

/** Builds a program from the Go module proxy as the main module, so that its own `replace` directives count, and copies its CRDs. */
function goModule(target: string, { module, main, crds }: { module: string; main: string; crds: string }): void {
  const { Dir } = JSON.parse(output("go", ["mod", "download", "-json", module], target)) as { Dir: string };
  const sources = join(target, "sources");
  cpSync(Dir, sources, { recursive: true });
  step("chmod", ["-R", "u+w", sources], target);
  const env = { ...goEnvironment, GOFLAGS: "-buildvcs=false -mod=mod" };
  step("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(target, "operator"), main], sources, env);
  for (const file of globSync(crds, { cwd: sources }))
    cpSync(join(sources, file), join(target, "crds", file.split("/").at(-1)!));
  rmSync(sources, { recursive: true });
}
