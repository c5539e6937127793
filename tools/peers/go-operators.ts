import { cpSync, globSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { buildGoProgram, GoProgramError } from "@konverge/testing";
import { goEnvironment, goToolchain } from "./catalogue.ts";
import { output, step } from "./peer.ts";

/** An operator in Go as its project publishes it on the module proxy. */
export interface GoOperator {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Its package main. */
  readonly main: string;
  /** Its CRDs, as its sources have them. */
  readonly crds: string;
}

export const GO_OPERATORS: readonly GoOperator[] = [
  {
    name: "jobset",
    module: "sigs.k8s.io/jobset",
    version: "v0.11.1",
    main: ".",
    crds: "config/components/crd/bases/*.yaml",
  },
  { name: "lws", module: "sigs.k8s.io/lws", version: "v0.8.0", main: "./cmd", crds: "config/crd/bases/*.yaml" },
  {
    name: "kuberay",
    module: "github.com/ray-project/kuberay/ray-operator",
    version: "v1.6.2",
    main: ".",
    crds: "config/crd/bases/*.yaml",
  },
  {
    name: "kro",
    module: "github.com/kubernetes-sigs/kro",
    version: "v0.9.4",
    main: "./cmd/controller",
    crds: "helm/crds/*.yaml",
  },
  {
    name: "trainer",
    module: "github.com/kubeflow/trainer/v2",
    version: "v2.3.0",
    main: "./cmd/trainer-controller-manager",
    crds: "manifests/base/crds/*.yaml",
  },
  {
    name: "kueue",
    module: "sigs.k8s.io/kueue",
    version: "v0.15.0",
    main: "./cmd/kueue",
    crds: "config/components/crd/bases/*.yaml",
  },
  {
    name: "argo-rollouts",
    module: "github.com/argoproj/argo-rollouts",
    version: "v1.8.3",
    main: "./cmd/rollouts-controller",
    crds: "manifests/crds/*-crd.yaml",
  },
  {
    name: "cluster-api",
    module: "sigs.k8s.io/cluster-api",
    version: "v1.14.2",
    main: ".",
    crds: "config/crd/bases/*.yaml",
  },
  {
    name: "keda",
    module: "github.com/kedacore/keda/v2",
    version: "v2.21.0",
    main: "./cmd/operator",
    crds: "config/crd/bases/*.yaml",
  },
  {
    name: "cloudnative-pg",
    module: "github.com/cloudnative-pg/cloudnative-pg",
    version: "v1.30.0",
    main: "./cmd/manager",
    crds: "config/crd/bases/*.yaml",
  },
  {
    name: "kustomize-controller",
    module: "github.com/fluxcd/kustomize-controller",
    version: "v1.9.5",
    main: ".",
    crds: "config/crd/bases/*.yaml",
  },
];

/** What compiling an operator for js/wasm came to. */
export interface CompiledOperator {
  readonly operator: GoOperator;
  /** The folder with `program.wasm` and `crds`. */
  readonly folder: string;
  /** In bytes; undefined if it does not compile. */
  readonly size: number | undefined;
  /** Why it does not. */
  readonly problem?: string;
}

/** Fetches an operator from the module proxy and compiles it as `konverge explore --go` does: its sources stay as they are. */
export function compileGoOperator(operator: GoOperator): CompiledOperator {
  const { name, module, version, main, crds } = operator;
  const folder = join(cacheFolder(), `${name}-${version}`);
  const sources = join(folder, "sources");
  rmSync(sources, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const text = output(
      goToolchain.command,
      ["mod", "download", "-json", `${module}@${version}`],
      folder,
      goEnvironment,
    );
    // A module in Go's cache cannot get further files, and its own `replace` directives would not count.
    cpSync((JSON.parse(text) as { Dir: string }).Dir, sources, { recursive: true });
    step("chmod", ["-R", "u+w", sources], folder);
    for (const file of globSync(crds, { cwd: sources })) {
      cpSync(join(sources, file), join(folder, "crds", file.split("/").at(-1)!));
    }
    return {
      operator,
      folder,
      size: statSync(buildGoProgram({ package: main, folder: sources, output: folder })).size,
    };
  } catch (error) {
    if (!(error instanceof GoProgramError)) throw error;
    writeFileSync(join(folder, "problem.txt"), error.message);
    return { operator, folder, size: undefined, problem: error.message };
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
}

function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "go-operators");
}
