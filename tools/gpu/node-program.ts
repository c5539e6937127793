import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KUBERNETES_VERSION } from "@konverge/linux-node";
import { go, writeKubernetesModule } from "@konverge/real/go-module.ts";
import { buildPauseImage } from "@konverge/real/pause-image.ts";
import { gpuCache } from "./device-plugin.ts";

/** Kubelet and kube-proxy share most of their code: as one program they take half the room in an archive. */
const PROGRAM = `package main

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if filepath.Base(os.Args[0]) == "kube-proxy" {
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	}
	os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
}
`;

/** The programs of a node that no distribution packages. */
export interface NodeProgram {
  /** Kubelet and kube-proxy: which of them, its name decides. */
  readonly program: string;
  readonly pauseImage: string;
}

/** Where they are, whether they were built or not. */
export function nodeProgram(): NodeProgram {
  const folder = join(gpuCache(), `kubernetes-v${KUBERNETES_VERSION}`);
  return { program: join(folder, "kube-node"), pauseImage: join(folder, "pause.tar") };
}

/** Builds them from the Go module proxy. */
export function buildNodeProgram(): NodeProgram {
  const built = nodeProgram();
  if (existsSync(built.program) && existsSync(built.pauseImage)) return built;
  mkdirSync(gpuCache(), { recursive: true });
  const work = mkdtempSync(join(gpuCache(), ".build-"));
  try {
    writeKubernetesModule(work, KUBERNETES_VERSION);
    mkdirSync(join(work, "node"));
    writeFileSync(join(work, "node", "main.go"), PROGRAM);
    go(work, ["build", "-trimpath", "-ldflags", linkerFlags(), "-o", join(work, "kube-node"), "./node"]);
    buildPauseImage(work, join(work, "pause.tar"));
    mkdirSync(join(built.program, ".."), { recursive: true });
    for (const [from, to] of [
      ["kube-node", built.program],
      ["pause.tar", built.pauseImage],
    ] as const)
      renameSync(join(work, from), to);
    return built;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Without their version, nodes report v0.0.0-master. */
function linkerFlags(): string {
  const [major, minor] = KUBERNETES_VERSION.split(".");
  const values = { gitVersion: `v${KUBERNETES_VERSION}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const set = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ["-s -w", ...set].join(" ");
}
