import { type Directory, device, directory, plant, regularFile, symbolicLink } from "./file-tree.ts";

/** What the files outside of volumes say about a container. */
export interface RootFilesOptions {
  readonly now: number;
  readonly hostName: string;
  /** `/etc/hosts` and `/etc/resolv.conf`. */
  readonly hosts: string;
  readonly resolver: string;
  /** Kernel settings, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Files of the image, by path. */
  readonly files: Readonly<Record<string, string>>;
}

const FOLDERS = [
  "bin",
  "dev",
  "etc",
  "home",
  "proc",
  "root",
  "run",
  "sbin",
  "sys",
  "usr",
  "usr/bin",
  "usr/local",
  "var",
];
const SETTINGS: Readonly<Record<string, string>> = {
  "kernel.shm_rmid_forced": "0",
  "kernel.msgmax": "8192",
  "net.ipv4.ip_unprivileged_port_start": "0",
};
const PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n";

/** A container's files before its volumes are mounted: those that every Linux has, and those of its image. */
export function rootFiles({ now, hostName, hosts, resolver, settings, files }: RootFilesOptions): Directory {
  const owner = { changedAt: now };
  const root = directory(owner);
  for (const folder of FOLDERS) plant(root, folder, directory(owner));
  for (const folder of ["tmp", "var/tmp"]) plant(root, folder, directory({ ...owner, mode: 0o1777 }));
  plant(root, "var/run", symbolicLink("/run", owner));
  for (const name of ["null", "zero", "urandom"] as const) plant(root, `dev/${name}`, device(name));
  const texts = {
    "etc/passwd": PASSWD,
    "etc/group": "root:x:0:\n",
    "etc/hostname": `${hostName}\n`,
    "etc/hosts": hosts,
    "etc/resolv.conf": resolver,
  };
  for (const [path, text] of Object.entries(texts)) plant(root, path, regularFile(text, owner));
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings }))
    plant(root, `proc/sys/${name.replaceAll(".", "/")}`, regularFile(`${value}\n`, owner));
  for (const [path, text] of Object.entries(files)) plant(root, path, regularFile(text, owner));
  return root;
}
