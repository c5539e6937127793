import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UsageError } from "../usage-error.ts";
import { fullImageName } from "./image-name.ts";

const run = promisify(execFile);

/** What `docker save` writes of each image. */
interface DockerImage {
  readonly RepoTags?: readonly string[] | null;
}
/** What the OCI image layout says of each image. */
interface OciImage {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The names of the images in a Docker or OCI archive, in full. */
export async function archiveNames(file: string): Promise<string[]> {
  const docker = await member<DockerImage[]>(file, "manifest.json");
  const oci = await member<{ manifests?: OciImage[] }>(file, "index.json");
  if (!docker && !oci) throw new UsageError(`${file} is neither a Docker archive nor an OCI archive`);
  const names = [
    ...(docker ?? []).flatMap(({ RepoTags }) => RepoTags ?? []),
    ...(oci?.manifests ?? []).flatMap(({ annotations = {} }) => nameOf(annotations) ?? []),
  ];
  if (names.length > 0) return [...new Set(names.map(fullImageName))];
  throw new UsageError(
    `${file} does not name its image: write it with a name, as in "docker save --output FILE NAME:TAG" or "buildah push NAME:TAG docker-archive:FILE:NAME:TAG"`,
  );
}

/** In an OCI layout the name may be the tag alone, which is not enough to find the image by. */
function nameOf(annotations: Readonly<Record<string, string>>): string | undefined {
  const reference = annotations["org.opencontainers.image.ref.name"];
  return annotations["io.containerd.image.name"] ?? (reference?.includes(":") ? reference : undefined);
}

/** A JSON file of the archive; undefined if it has none of that name. */
async function member<T>(file: string, name: string): Promise<T | undefined> {
  for (const path of [name, `./${name}`]) {
    const text = await run("tar", ["-xOf", file, path], { maxBuffer: 1 << 26 }).then(
      ({ stdout }) => stdout,
      () => undefined,
    );
    if (text) return JSON.parse(text) as T;
  }
  return undefined;
}
