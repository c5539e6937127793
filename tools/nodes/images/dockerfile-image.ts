import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { nodeBuilder, nodeRuntime } from "./base-images.ts";
import { cachedArchive, contentKey } from "./cache.ts";
import { type DebianImage, debianArchive } from "./debian-image.ts";

/** What the project's Dockerfile copies, see .dockerignore. */
const COPIED = [
  "Dockerfile",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "packages/**",
  "operators/**",
  "tools/*/package.json",
  "scripts/release/**",
];

/**
 * The operators' image, built by buildah from the project's Dockerfile as it is. Its base images are made here, under the same
 * names, because there is no registry: Debian's packages and the pinned Node instead of the official files.
 */
export async function operatorsArchive(repository: string, name: string): Promise<string> {
  const bases = [nodeBuilder, nodeRuntime];
  const archives: string[] = [];
  for (const base of bases) archives.push(await debianArchive(base));
  const key = contentKey([name, ...archives, digestOf(repository)]);
  return await cachedArchive("operators", key, (folder, file) => {
    const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
    const buildah = (...args: string[]) =>
      execFileSync("buildah", [...storage, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
    for (const [index, base] of bases.entries()) pull(buildah, base, archives[index]!);
    const how = ["--isolation", "chroot", "--network", "host", "--pull=false", "--format", "oci", "--quiet"];
    buildah("build", ...how, "--tag", name, repository);
    buildah("push", "--disable-compression", name, `docker-archive:${file}:${name}`);
  });
}

function pull(buildah: (...args: string[]) => string, { name }: DebianImage, archive: string): void {
  buildah("tag", buildah("pull", "--quiet", `oci-archive:${archive}`), name);
}

/** Of all files that are copied into the build, but for tests, of which nothing is published. */
function digestOf(repository: string): string {
  const hash = createHash("sha256");
  const isBuilt = (path: string) => /node_modules|(^|\/)(dist|test|tutorial)(\/|$)|\.test\.ts$/.test(path);
  for (const path of globSync(COPIED, { cwd: repository, exclude: isBuilt }).sort()) {
    const file = join(repository, path);
    if (statSync(file).isFile()) hash.update(path).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}
