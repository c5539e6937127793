import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageCache } from "./cache.ts";

export interface DebianPackages {
  readonly packages: readonly string[];
  /** Dependencies that the image can do without, by how their names begin. */
  readonly without?: readonly string[];
}

/** Packages that only configure a system that boots or is updated in place. */
const NEVER = [
  "perl",
  "libperl",
  "dpkg",
  "debconf",
  "usrmerge",
  "init-system-helpers",
  "sysvinit",
  "adduser",
  "passwd",
  "ucf",
];

/** As if no package were installed here, so that all dependencies are listed. */
const EMPTY_MACHINE = ["-o", "Dir::State::status=/dev/null", "-o", "APT::Install-Recommends=false"];

/** The files of packages and their dependencies, in the versions of this machine's sources: `sed_4.9-1_amd64.deb`. */
export function debianFiles({ packages, without = [] }: DebianPackages): string[] {
  const listed = execFileSync("apt-get", [...EMPTY_MACHINE, "--print-uris", "-qq", "install", "-y", ...packages], {
    encoding: "utf8",
  });
  const files = [...listed.matchAll(/^'[^']+' (\S+\.deb) /gm)].map(([, file]) => file!);
  const isLeftOut = (file: string) =>
    [...NEVER, ...without].some((start) => file.startsWith(start)) &&
    !packages.some((wanted) => file.startsWith(`${wanted}_`));
  return files.filter((file) => !isLeftOut(file)).sort();
}

/**
 * Makes the root file system of an image out of Debian packages. They are unpacked, not installed: no script of theirs runs,
 * so what such a script would do for an image (users, links to alternatives) is done here or by the caller.
 */
export function makeDebianRoot(wanted: DebianPackages, root: string): void {
  const archives = join(imageCache(), "debian");
  mkdirSync(join(archives, "partial"), { recursive: true });
  const files = debianFiles(wanted);
  if (files.some((file) => !existsSync(join(archives, file)))) {
    const cache = [
      "-o",
      `Dir::Cache::archives=${archives}`,
      "-o",
      "APT::Sandbox::User=root",
      "-o",
      "Debug::NoLocking=1",
    ];
    execFileSync(
      "apt-get",
      [...EMPTY_MACHINE, ...cache, "-qq", "install", "-y", "--download-only", ...wanted.packages],
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
  }
  for (const folder of ["bin", "sbin", "lib", "lib64"]) {
    mkdirSync(join(root, "usr", folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(root, folder));
  }
  for (const folder of ["etc", "tmp", "proc", "sys", "dev", "root", "var/tmp"])
    mkdirSync(join(root, folder), { recursive: true });
  execFileSync("chmod", ["1777", join(root, "tmp"), join(root, "var/tmp")]);
  const left = ["usr/share/doc", "usr/share/man", "usr/share/locale"].map((path) => `--exclude=./${path}/*`);
  for (const file of files) {
    const unpack = `dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink ${left.join(" ")}`;
    execFileSync("bash", ["-o", "pipefail", "-c", unpack, "unpack", join(archives, file), root]);
  }
  for (const name of ["passwd", "group"]) {
    const master = join(root, `usr/share/base-passwd/${name}.master`);
    if (existsSync(master)) copyFileSync(master, join(root, "etc", name));
    else writeFileSync(join(root, "etc", name), name === "passwd" ? "root:x:0:0:root:/root:/bin/sh\n" : "root:x:0:\n");
  }
  writeFileSync(join(root, "etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
  if (existsSync(join(root, "usr/bin/mawk"))) symlinkSync("mawk", join(root, "usr/bin/awk"));
  // Libraries outside of the linker's default folders are found by its cache.
  if (existsSync(join(root, "usr/sbin/ldconfig"))) execFileSync("chroot", [root, "/usr/sbin/ldconfig"]);
}

export function addUser(root: string, name: string, id: number, home: string): void {
  appendFileSync(join(root, "etc/passwd"), `${name}:x:${id}:${id}::${home}:/bin/sh\n`);
  appendFileSync(join(root, "etc/group"), `${name}:x:${id}:\n`);
}
