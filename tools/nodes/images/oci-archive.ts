import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** What containers of an image run as; the words are those of the OCI image specification. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
}

export interface Image {
  /** With registry and tag, as containerd names it: docker.io/library/postgres:15. */
  readonly name: string;
  /** The folder that becomes the root of its file system, with the owners that its files have. */
  readonly root: string;
  readonly config: ImageConfig;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes an image with one layer as an OCI archive. There is neither a daemon nor a registry in it: the format is a tar with
 * JSON files whose names are their digests. The layer is not compressed, since it never leaves the machine.
 */
export async function writeOciArchive(image: Image, folder: string, file: string): Promise<void> {
  const blobs = join(folder, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const layer = await layerOf(image.root, blobs);
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const config = json(blobs, "application/vnd.oci.image.config.v1+json", {
    architecture,
    os: "linux",
    config: image.config,
    rootfs: { type: "layers", diff_ids: [layer.digest] },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = json(blobs, mediaType, { schemaVersion: 2, mediaType, config, layers: [layer] });
  const annotations = {
    "io.containerd.image.name": image.name,
    "org.opencontainers.image.ref.name": image.name.slice(image.name.lastIndexOf(":") + 1),
  };
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, annotations, platform: { architecture, os: "linux" } }],
  };
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  execFileSync("tar", ["-C", folder, "-cf", file, "oci-layout", "index.json", "blobs"]);
  rmSync(folder, { recursive: true });
}

async function layerOf(root: string, blobs: string): Promise<Descriptor> {
  const raw = join(blobs, "layer");
  execFileSync("tar", ["-C", root, "--numeric-owner", "--sort=name", "--mtime=@0", "-cf", raw, "."]);
  const hash = createHash("sha256");
  await pipeline(createReadStream(raw), hash);
  const [digest, size] = [hash.digest("hex"), statSync(raw).size];
  renameSync(raw, join(blobs, digest));
  return { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${digest}`, size };
}

function json(blobs: string, mediaType: string, value: unknown): Descriptor {
  const text = JSON.stringify(value);
  const digest = createHash("sha256").update(text).digest("hex");
  writeFileSync(join(blobs, digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
