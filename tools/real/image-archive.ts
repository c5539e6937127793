import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goArchitecture } from "./locate.ts";

/** What an image consists of. */
export interface ImageContents {
  /** The name under which containerd finds it: `docker.io/library/busybox:1.37`. */
  readonly name: string;
  /** The folder that becomes its file system, owned by root. */
  readonly rootfs: string;
  /** Its configuration, in the words of the OCI image specification. */
  readonly config: {
    readonly User?: string;
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
  };
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** Writes an image of one layer as an OCI archive, without a container engine. */
export function writeImageArchive(archive: string, { name, rootfs, config }: ImageContents): void {
  const work = mkdtempSync(join(tmpdir(), "konverge-image-"));
  try {
    const blobs = join(work, "layout", "blobs", "sha256");
    mkdirSync(blobs, { recursive: true });
    const put = (content: Buffer, mediaType: string) => {
      const hash = createHash("sha256").update(content).digest("hex");
      writeFileSync(join(blobs, hash), content);
      return { mediaType, digest: `sha256:${hash}`, size: content.length };
    };
    const json = (value: object, mediaType: string) => put(Buffer.from(JSON.stringify(value)), mediaType);
    const file = join(work, "layer.tar");
    tar(["--owner=0", "--group=0", "--mtime=@0", "-cf", file, "-C", rootfs, "."]);
    const layer = put(readFileSync(file), "application/vnd.oci.image.layer.v1.tar");
    const platform = { architecture: goArchitecture(), os: "linux" };
    const rootfsOf = { type: "layers", diff_ids: [layer.digest] };
    const described = json({ ...platform, config, rootfs: rootfsOf }, "application/vnd.oci.image.config.v1+json");
    const manifest = json({ schemaVersion: 2, mediaType: MANIFEST, config: described, layers: [layer] }, MANIFEST);
    const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
    const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
    writeFileSync(join(work, "layout", "index.json"), JSON.stringify(index));
    writeFileSync(join(work, "layout", "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    tar(["-cf", archive, "-C", join(work, "layout"), "."]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function tar(args: readonly string[]): void {
  execFileSync("tar", args, { stdio: ["ignore", "ignore", "inherit"] });
}
