import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { go } from "./go-module.ts";
import { writeImageArchive } from "./image-archive.ts";

/** The name under which containerd looks for it. */
const NAME = "registry.k8s.io/pause:3.10.1";

/** Holds the namespaces of a pod, and takes the exit statuses of processes whose parents have ended. */
const PROGRAM = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for one := range signals {
		if one != syscall.SIGCHLD {
			return
		}
		for {
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
				break
			}
		}
	}
}
`;

/** Builds the image around which pods are put together as an OCI archive, for machines that cannot pull it. */
export function buildPauseImage(work: string, archive: string): void {
  const rootfs = join(work, "rootfs");
  mkdirSync(rootfs, { recursive: true });
  buildPauseProgram(work, join(rootfs, "pause"));
  writeImageArchive(archive, { name: NAME, rootfs, config: PAUSE_CONFIG });
}

export const PAUSE_CONFIG = { User: "65535:65535", Entrypoint: ["/pause"] } as const;

/** Builds the only program of that image, in a folder with a Go module. */
export function buildPauseProgram(work: string, file: string): void {
  const source = join(work, "pause");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "main.go"), PROGRAM);
  go(work, ["build", "-trimpath", "-ldflags", "-s -w", "-o", file, "./pause"]);
}
