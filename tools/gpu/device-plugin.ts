import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { downloadModule, go } from "@konverge/real/go-module.ts";

export const DEVICE_PLUGIN_VERSION = "0.18.2";

/** `${XDG_CACHE_HOME:-~/.cache}/konverge/gpu`. */
export function gpuCache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konverge", "gpu");
}

/** Where NVIDIA's device plugin is, whether it was built or not. */
export function devicePluginFile(): string {
  return join(gpuCache(), `v${DEVICE_PLUGIN_VERSION}`, "nvidia-device-plugin");
}

/** Builds NVIDIA's device plugin from the Go module proxy. It loads the driver's library as it starts, and so needs a C compiler. */
export function buildDevicePlugin(): string {
  const file = devicePluginFile();
  if (existsSync(file)) return file;
  mkdirSync(gpuCache(), { recursive: true });
  const work = mkdtempSync(join(gpuCache(), ".build-"));
  try {
    const { Dir } = downloadModule(work, `github.com/NVIDIA/k8s-device-plugin@v${DEVICE_PLUGIN_VERSION}`);
    const source = join(work, "source");
    // Files of the module cache are read-only, and Go completes go.sum.
    execFileSync("cp", ["-r", "--no-preserve=mode", Dir, source]);
    const flags = ["-trimpath", "-ldflags", "-s -w -extldflags=-Wl,-z,lazy"];
    const built = join(work, "nvidia-device-plugin");
    go(source, ["build", ...flags, "-o", built, "./cmd/nvidia-device-plugin"], { CGO_ENABLED: "1" });
    mkdirSync(join(file, ".."), { recursive: true });
    renameSync(built, file);
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
