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
  const [source, rootfs] = [join(work, "pause"), join(work, "rootfs")];
  for (const folder of [source, rootfs]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(source, "main.go"), PROGRAM);
  go(work, ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(rootfs, "pause"), "./pause"]);
  writeImageArchive(archive, { name: NAME, rootfs, config: { User: "65535:65535", Entrypoint: ["/pause"] } });
}
