import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { startedCommand } from "../started-files.ts";
import { UsageError } from "../usage-error.ts";
import type { OperatorCatalog } from "./catalog.ts";
import { filesIn, packageClosure } from "./package-closure.ts";

/** The user of the published image. */
const USER = "65532:65532";

/**
 * Writes an image of operators as a Docker archive, for nodes that run on this machine: the Node that runs here with its
 * libraries, and the operators' code, all under their own paths. It needs neither a registry nor a program that builds images.
 *
 * `image` is its full name, with a registry. Files of a project are only those that its operators load (see `readableCode`); packages are complete.
 */
export async function writeOperatorArchive(
  { code }: Pick<OperatorCatalog, "code">,
  { image, folder, cwd = process.cwd() }: { image: string; folder: string; cwd?: string },
): Promise<string> {
  const [node, konverge] = startedCommand("konverge");
  if (process.platform !== "linux" || konverge === undefined) {
    throw new UsageError("the image of the operators can be made by Node on Linux only");
  }
  const layer = join(folder, "layer.tar");
  // The owner is root, and everybody can read: containers run as a user of their own.
  const tar = (how: string[], files: readonly string[]) =>
    execFileSync(
      "tar",
      [...how, "--directory=/", "--owner=0", "--group=0", "--numeric-owner", "--mode=a+rX,u+w", "--files-from=-"],
      { input: files.map((file) => `${file.slice(1)}\n`).join(""), stdio: ["pipe", "ignore", "inherit"] },
    );
  tar(["--create", `--file=${layer}`, "--dereference"], [node, ...librariesOf(node)]);
  tar(["--append", `--file=${layer}`, "--no-recursion"], codeFiles(code, konverge));
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: {
      User: USER,
      Env: ["NODE_ENV=production"],
      Entrypoint: [node, konverge],
      Cmd: ["run"],
      WorkingDir: cwd,
    },
    rootfs: { type: "layers", diff_ids: [`sha256:${await digestOf(layer)}`] },
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: [image], Layers: ["layer.tar"] }];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const archive = join(folder, "operators.tar");
  execFileSync("tar", ["-C", folder, "-cf", archive, "manifest.json", "config.json", "layer.tar"]);
  return archive;
}

/** The shared libraries of a program, and its loader; none if it is linked statically. */
function librariesOf(program: string): string[] {
  try {
    const output = execFileSync("ldd", [program], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...output.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path]) => path!);
  } catch {
    return [];
  }
}

/** What is installed is reduced to the packages that are needed; the rest is as it is recorded. */
function codeFiles(code: readonly string[], konverge: string): string[] {
  const own = code.filter((path) => !/(^|\/)node_modules$/.test(path));
  const isPackage = (path: string) => existsSync(join(path, "package.json"));
  const projects = own.filter((path) => path.endsWith("/package.json")).map((path) => dirname(path));
  const { folders, links } = packageClosure([resolve(dirname(konverge), ".."), ...own.filter(isPackage), ...projects]);
  const isProject = (folder: string) => projects.includes(folder);
  const files = [...own, ...folders.filter((folder) => !isProject(folder))].flatMap((path) =>
    statSync(path).isDirectory() ? filesIn(path) : [path],
  );
  return [...new Set([...files, ...links])].sort();
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
