import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { go } from "./go-module.ts";
import { goArchitecture } from "./locate.ts";

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
  const [source, layout] = [join(work, "pause"), join(work, "layout")];
  const blobs = join(layout, "blobs", "sha256");
  for (const folder of [source, join(work, "rootfs"), blobs]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(source, "main.go"), PROGRAM);
  go(work, ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(work, "rootfs", "pause"), "./pause"]);
  const put = (content: Buffer, mediaType: string) => {
    const hash = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(blobs, hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const json = (value: object, type: string) =>
    put(Buffer.from(JSON.stringify(value)), `application/vnd.oci.image.${type}.v1+json`);
  const file = join(work, "layer.tar");
  tar(["--owner=0", "--group=0", "--mtime=@0", "-cf", file, "-C", join(work, "rootfs"), "pause"]);
  const layer = put(readFileSync(file), "application/vnd.oci.image.layer.v1.tar");
  const config = json(
    {
      architecture: goArchitecture(),
      os: "linux",
      config: { User: "65535:65535", Entrypoint: ["/pause"] },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    },
    "config",
  );
  const manifest = json({ schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] }, "manifest");
  const annotations = { "io.containerd.image.name": NAME, "org.opencontainers.image.ref.name": NAME };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  tar(["-cf", archive, "-C", layout, "."]);
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

function tar(args: readonly string[]): void {
  execFileSync("tar", args, { stdio: ["ignore", "ignore", "inherit"] });
}
