import { cachedArchive, contentKey } from "./cache.ts";
import { type DebianPackages, debianFiles, makeDebianRoot } from "./debian.ts";
import { type ImageConfig, writeOciArchive } from "./oci-archive.ts";

/** An image out of Debian packages. */
export interface DebianImage extends DebianPackages {
  readonly name: string;
  readonly config: ImageConfig;
  /** What else belongs into it. Its text is part of what the cached archive is found by, and so is `contents`. */
  readonly finish?: (root: string) => void;
  /** What `finish` reads: versions or digests. */
  readonly contents?: readonly string[];
}

/** The OCI archive of an image, made unless one of the same packages and recipe is in the cache. */
export async function debianArchive(image: DebianImage): Promise<string> {
  const { name, config, finish, contents = [] } = image;
  const key = contentKey([name, ...debianFiles(image), JSON.stringify(config), String(finish), ...contents]);
  const short = name.slice(name.lastIndexOf("/") + 1).replace(":", "-");
  return await cachedArchive(short, key, async (folder, file) => {
    const root = `${folder}-root`;
    makeDebianRoot(image, root);
    finish?.(root);
    await writeOciArchive({ name, root, config }, folder, file);
  });
}
