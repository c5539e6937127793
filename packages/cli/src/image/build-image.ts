import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../usage-error.ts";

/** Builds the image of a folder with a Dockerfile into a Docker archive. */
export function buildImage(folder: string, image: string, archive: string): void {
  if (!["Dockerfile", "Containerfile"].some((name) => existsSync(join(folder, name)))) {
    throw new UsageError(`${folder} has no Dockerfile`);
  }
  const builder = ["buildah", "podman", "docker"].find((name) => spawnSync(name, ["info"]).status === 0);
  if (!builder) {
    throw new UsageError(
      "nothing here builds images: install buildah (apt-get install buildah, dnf install buildah), or build the image elsewhere and load its archive",
    );
  }
  if (builder === "buildah") {
    // The isolation that also works in containers and virtual machines with few permissions.
    run("buildah", "build", "--isolation", process.env["BUILDAH_ISOLATION"] ?? "chroot", "--tag", image, folder);
    run("buildah", "push", image, `docker-archive:${archive}:${image}`);
  } else {
    run(builder, "build", "--tag", image, folder);
    run(builder, "save", "--output", archive, image);
  }
}

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`the image was not built: ${program} ${args[0]} failed with status ${status}`);
}
