import { type Directory, device, directory, plant, regularFile, symbolicLink } from "./file-tree.ts";

/** What the files outside of volumes say about a container. */
export interface RootFilesOptions {
  readonly now: number;
  readonly hostName: string;
  /** `/etc/hosts` and `/etc/resolv.conf`. */
  readonly hosts: string;
  readonly resolver: string;
  /** What the kernel knows of the container's processes. */
  readonly credentials: ProcessCredentials;
  /** Kernel settings, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Files of the image, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** The identity of a container's processes, and their privileges. */
export interface ProcessCredentials {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly noNewPrivileges: boolean;
  /** A seccomp profile applies to it. */
  readonly isFiltered: boolean;
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
export function rootFiles(options: RootFilesOptions): Directory {
  const { now, hostName, hosts, resolver, credentials, settings, files } = options;
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
    "proc/1/status": statusText(credentials),
    "proc/self/status": statusText(credentials),
  };
  for (const [path, text] of Object.entries(texts)) plant(root, path, regularFile(text, owner));
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings }))
    plant(root, `proc/sys/${name.replaceAll(".", "/")}`, regularFile(`${value}\n`, owner));
  for (const [path, text] of Object.entries(files)) plant(root, path, regularFile(text, owner));
  return root;
}

function statusText({ uid, gid, groups, noNewPrivileges, isFiltered }: ProcessCredentials): string {
  const four = (id: number) => [id, id, id, id].join("\t");
  const lines = [
    ["Pid", "1"],
    ["Uid", four(uid)],
    ["Gid", four(gid)],
    ["Groups", groups.join(" ")],
    ["NoNewPrivs", noNewPrivileges ? "1" : "0"],
    ["Seccomp", isFiltered ? "2" : "0"],
    ["Seccomp_filters", isFiltered ? "1" : "0"],
  ];
  return lines.map(([name, value]) => `${name}:\t${value}\n`).join("");
}
