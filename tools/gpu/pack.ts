import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { KUBERNETES_VERSION } from "@konverge/linux-node";
import { goArchitecture } from "@konverge/real/locate.ts";
import { buildDevicePlugin, DEVICE_PLUGIN_VERSION } from "./device-plugin.ts";
import { buildNodeProgram } from "./node-program.ts";
import { compressed, ownLibraries, withStripped } from "./packed-files.ts";

/** Programs of this machine's distribution. */
const PROGRAMS = ["containerd", "containerd-shim-runc-v2", "ctr", "runc"];
const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];
const CNI_PLUGINS = ["ptp", "host-local", "portmap", "loopback"];
const WITH_LIBRARIES = ["ip", "xtables-nft-multi", "conntrack", "mount", "umount", "unshare", "nsenter"];
/** What kube-proxy, the plugin portmap and Konverge use in rules. */
const XTABLES =
  /^lib(xt|ipt|ip6t)_(standard|comment|conntrack|mark|MARK|MASQUERADE|DNAT|SNAT|REJECT|addrtype|statistic|tcp|udp|sctp|recent|nfacct|set|multiport|physdev|limit|LOG|icmp|icmp6|NAT)\.so$/;
/** What of the repository runs. */
const CODE =
  /^(package\.json|package-lock\.json|tsconfig\.json|LICENSE|(packages|operators)\/|tools\/(nodes|real|gpu)\/|scripts\/[^/]+$)/;
const LEFT_OUT = /\.test\.ts$|\.md$|(^|\/)(tutorial|test|monitoring|samples)\//;
const MIB = 2 ** 20;

/**
 * Writes all that the lane needs on a machine with a GPU and Python with PyTorch, but without a network: archives that unpack into one
 * folder, `konverge-gpu`, with a program `run`. Each has at most `most` MiB; what changes with the code is in the last one.
 */
export function pack(repository: string, target: string, most = Number.POSITIVE_INFINITY): string[] {
  const work = mkdtempSync(join(tmpdir(), "konverge-pack-"));
  try {
    const folder = join(work, "konverge-gpu");
    mkdirSync(join(folder, "packed"), { recursive: true });
    const put = (name: string, file: string) => copyFileSync(file, join(folder, "packed", `${name}.xz`));
    for (const [name, file] of Object.entries(programs())) {
      console.log(`packing ${name}`);
      put(name, file());
    }
    put("system.tar", packedFolder(work, "system", addSystem));
    put(
      "code.tar",
      packedFolder(work, "code", (code) => addCode(repository, code)),
    );
    // What unpacks the rest, where there is no such program.
    for (const file of [inPath("xz"), ...ownLibraries(inPath("xz"))])
      copyFileSync(file, join(folder, "packed", basename(file)));
    copyFileSync(join(repository, "tools/gpu/programs/run.sh"), join(folder, "run"));
    chmodSync(join(folder, "run"), 0o755);
    return writeParts(folder, target, most * MIB);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Compressed programs by name. */
function programs(): Record<string, () => string> {
  const plugins = CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((name) => existsSync(join(folder, name))));
  if (!plugins)
    throw new Error(`no CNI plugins in ${CNI_FOLDERS.join(" or ")}: apt-get install containernetworking-plugins`);
  const node = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin/node");
  return {
    node: () => withStripped(node, compressed),
    "kube-node": () => compressed(buildNodeProgram().program),
    "nvidia-device-plugin": () => compressed(buildDevicePlugin()),
    ...Object.fromEntries(PROGRAMS.map((name) => [name, () => compressed(inPath(name))])),
    ...Object.fromEntries(CNI_PLUGINS.map((name) => [name, () => compressed(join(plugins, name))])),
  };
}

function inPath(name: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  if (!found) throw new Error(`${name} is missing: apt-get install containerd runc iptables iproute2 conntrack`);
  return found;
}

/** A folder that `fill` fills, as a compressed archive. */
function packedFolder(work: string, name: string, fill: (folder: string) => void): string {
  const folder = join(work, name);
  mkdirSync(folder);
  fill(folder);
  const archive = join(work, `${name}.tar`);
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  execFileSync("tar", [...same, "-cf", archive, "-C", folder, "."]);
  return compressed(archive);
}

/** Tools of the network with their libraries, the pause image, and what the versions are. */
function addSystem(folder: string): void {
  const [bin, lib] = [join(folder, "bin"), join(folder, "lib")];
  mkdirSync(bin);
  mkdirSync(join(lib, "xtables"), { recursive: true });
  for (const program of [...WITH_LIBRARIES, "runc"].map(inPath)) {
    if (basename(program) !== "runc") copyFileSync(program, join(bin, basename(program)));
    for (const library of ownLibraries(program)) copyFileSync(library, join(lib, basename(library)));
  }
  const xtables = "/usr/lib/x86_64-linux-gnu/xtables";
  for (const name of readdirSync(xtables)) {
    if (XTABLES.test(name)) copyFileSync(join(xtables, name), join(lib, "xtables", name));
  }
  copyFileSync(buildNodeProgram().pauseImage, join(folder, "pause.tar"));
  writeFileSync(join(folder, "kubernetes-version"), `v${KUBERNETES_VERSION}-linux-${goArchitecture()}\n`);
  writeFileSync(join(folder, "device-plugin-version"), `v${DEVICE_PLUGIN_VERSION}\n`);
}

/** The code of the repository that runs, changed or not, and the packages that it uses. */
function addCode(repository: string, folder: string): void {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: repository, encoding: "utf8" });
  const isLane = (file: string) => file.startsWith("tools/gpu/") && file.endsWith(".nodes.test.ts");
  const files = listed.split("\n").filter((file) => CODE.test(file) && (isLane(file) || !LEFT_OUT.test(file)));
  for (const file of files) {
    if (existsSync(join(repository, file))) cpSync(join(repository, file), join(folder, file));
  }
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<
      string,
      { link?: boolean; resolved?: string; dev?: boolean; devOptional?: boolean; optional?: boolean }
    >;
  };
  for (const [path, { link, resolved, dev, devOptional, optional }] of Object.entries(packages)) {
    if (!/^node_modules\//.test(path) || /\/node_modules\/.*\/node_modules\//.test(`/${path}`)) continue;
    const to = join(folder, path);
    if (link && existsSync(join(folder, resolved!))) {
      mkdirSync(dirname(to), { recursive: true });
      symlinkSync(`${"../".repeat(path.split("/").length - 1)}${resolved}`, to);
    } else if (!link && !dev && !devOptional && !optional && existsSync(join(repository, path))) {
      cpSync(join(repository, path), to, {
        recursive: true,
        filter: (file) => !/\.(map|md|d\.ts|d\.cts|d\.mts)$/.test(file),
      });
    }
  }
}

/** Files that rarely change come first. */
function writeParts(folder: string, target: string, most: number): string[] {
  mkdirSync(target, { recursive: true });
  for (const old of readdirSync(target)) if (/^konverge-gpu-\d+\.tar$/.test(old)) rmSync(join(target, old));
  const sizeOf = (file: string) => statSync(join(folder, file)).size;
  const packed = readdirSync(join(folder, "packed")).map((name) => `packed/${name}`);
  const isCode = (file: string) => /^packed\/(code|system)\.tar\.xz$/.test(file) || !file.endsWith(".xz");
  const stable = packed.filter((file) => !isCode(file)).sort((a, b) => sizeOf(b) - sizeOf(a));
  const parts: string[][] = [];
  const room: number[] = [];
  for (const file of stable) {
    let at = room.findIndex((left) => left >= sizeOf(file));
    if (at < 0) at = parts.push([]) - 1;
    room[at] = (room[at] ?? most) - sizeOf(file);
    parts[at]!.push(file);
  }
  const changing = ["run", ...packed.filter(isCode)];
  if (most === Number.POSITIVE_INFINITY) parts[0]!.push(...changing);
  else parts.push(changing);
  return parts.map((files, index) => {
    const archive = join(target, `konverge-gpu-${index + 1}.tar`);
    execFileSync("tar", [
      "--owner=0",
      "--group=0",
      "-cf",
      archive,
      "-C",
      dirname(folder),
      ...files.map((file) => join("konverge-gpu", file)),
    ]);
    return archive;
  });
}
