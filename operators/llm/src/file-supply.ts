import type { Container, Volume, VolumeMount } from "konverge/kinds";
import type { FileSource } from "./model-source.ts";

/** A volume, and where the server finds it. */
export interface Mounted {
  readonly volume: Volume;
  readonly mount: Omit<VolumeMount, "name">;
}

/** How files get to a server. */
export interface FileSupply {
  /** What the server loads: a folder, or a repository of Hugging Face. */
  readonly location: string;
  readonly mounted: readonly Mounted[];
  readonly initContainers: readonly Container[];
}

/** Copies from every service that speaks S3, and replaces a file only when its copy is complete. */
const DOWNLOADER = "rclone/rclone:1.71.0";

/**
 * Brings the files of a source to a server. `name` names the volume, and `folder` is where it is mounted; downloads go
 * into the cache, where other replicas find them if it is a claim.
 */
export function supplyFrom(
  source: FileSource,
  { name, folder, cache }: { name: string; folder: string; cache: Mounted },
): FileSupply {
  const { huggingFace, claim, s3, image } = source;
  const from = (volume: Omit<Volume, "name">, path = ""): FileSupply => ({
    location: below(folder, path),
    mounted: [{ volume: { name, ...volume }, mount: { mountPath: folder, readOnly: true } }],
    initContainers: [],
  });
  if (claim) return from({ persistentVolumeClaim: { claimName: claim.name, readOnly: true } }, claim.path);
  if (image) {
    const { path, ...volume } = image;
    return from({ image: volume }, path);
  }
  if (s3) {
    const location = below(cache.mount.mountPath, `s3/${pathOfUri(s3.uri)}`);
    return { location, mounted: [], initContainers: [downloader(s3, { name: `download-${name}`, location, cache })] };
  }
  return { location: huggingFace?.repo ?? "", mounted: [], initContainers: [] };
}

function below(folder: string, path: string): string {
  return `${folder}/${path}`.replaceAll(/\/+/g, "/").replace(/\/$/, "");
}

/** Bucket and folder. */
function pathOfUri(uri: string): string {
  return uri.slice("s3://".length).replace(/\/+$/, "");
}

/** Files that are complete in the cache are not copied again; their last output is what a failed pod reports. */
function downloader(
  { uri, endpoint, region, credentialsSecret }: NonNullable<FileSource["s3"]>,
  { name, location, cache }: { name: string; location: string; cache: Mounted },
): Container {
  return {
    name,
    image: DOWNLOADER,
    args: [
      // Of a single file, `copy` would make a folder of its name.
      /\.[a-z0-9]+$/i.test(uri) ? "copyto" : "copy",
      `:s3:${pathOfUri(uri)}`,
      location,
      `--s3-provider=${endpoint ? "Other" : "AWS"}`,
      "--s3-env-auth=true",
      ...(endpoint ? [`--s3-endpoint=${endpoint}`] : []),
      ...(region ? [`--s3-region=${region}`] : []),
      "--stats=30s",
      "--stats-one-line",
      "--stats-log-level=NOTICE",
    ],
    ...(credentialsSecret && { envFrom: [{ secretRef: { name: credentialsSecret } }] }),
    volumeMounts: [{ name: cache.volume.name, ...cache.mount }],
  };
}
