// Runs one TypeScript file of the repository on the pinned Node, after installing what is missing. `--with FOLDER` before the file
// also installs the packages of a folder outside the workspace.
// Plain JavaScript for Node 20: it must start on a machine where nothing has been installed yet.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const given = process.argv.slice(2);
const extra = given[0] === "--with" ? given.splice(0, 2)[1] : undefined;
const [script, ...args] = given;
const binaries = join(root, "node_modules", ".bin");
const node = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

installWhatIsMissing(root, node);
if (extra) installWhatIsMissing(join(root, extra));

const child = spawn(node, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
  cwd: root,
  stdio: "inherit",
  env: {
    // Modules are compiled once for the hundreds of processes that tests take.
    NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "compiled"),
    ...process.env,
    PATH: dirname(node) + delimiter + binaries + delimiter + process.env.PATH,
  },
});
// A terminal sends Ctrl-C to both processes; the child decides how to stop, this one only waits for it.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill("SIGTERM"));
// npm waits for this process. If npm is gone, it was killed.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 1000).unref();
}
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));

/** The lock file's digest is kept beside what was installed from it, so an up-to-date tree costs one file read. */
function installWhatIsMissing(folder, binary = folder) {
  const stamp = join(folder, "node_modules", ".konverge-installed");
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (existsSync(binary) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  console.error(`Installing dependencies${folder === root ? "" : ` of ${extra}`} (npm ci) …`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const installed = spawnSync(npm, ["ci", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", 2, "inherit"],
    shell: process.platform === "win32",
  });
  if (installed.status !== 0 || !existsSync(binary)) {
    console.error("npm ci failed, see above. It needs npm 10 or newer and the npm registry.");
    process.exit(1);
  }
  writeFileSync(stamp, digest);
}
