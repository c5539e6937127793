import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { cachedArchive, contentKey } from "./cache.ts";
import { type DebianPackages, debianFiles, makeDebianRoot } from "./debian.ts";
import { SHELL_TOOLS } from "./server-images.ts";

/** Debian's name for the architecture of this machine. */
export const ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;

/** A kernel, and what a node needs. */
const MACHINE: DebianPackages = {
  packages: [
    `linux-image-cloud-${ARCHITECTURE}`,
    ...["kmod", "cpio", "busybox-static", "mount", "util-linux", "procps", "hostname", "ca-certificates"],
    ...[
      "containerd",
      "runc",
      "containernetworking-plugins",
      "iproute2",
      "iptables",
      "conntrack",
      "libstdc++6",
      ...SHELL_TOOLS,
    ],
  ],
  without: ["initramfs-tools", "linux-base", "klibc", "python", "libpython", "criu", "systemd", "udev"],
};
/** What the kernel needs to find its disk. */
const DISK_MODULES = ["virtio_pci", "virtio_mmio", "virtio_blk", "ext4"];

/** Runs first, from memory: mounts the disk and continues there. */
const EARLY_INIT = `#!/bin/busybox sh
busybox=/bin/busybox
$busybox mount -t proc proc /proc
$busybox mount -t devtmpfs dev /dev
for module in /modules/*; do $busybox insmod $module; done
until [ -b /dev/vda ] && [ -b /dev/vdb ]; do $busybox sleep 0.1; done
$busybox mount -t ext4 /dev/vda /disk
$busybox umount /proc
$busybox mount --move /dev /disk/dev
exec $busybox switch_root /disk /sbin/start
`;
/** Runs what the second disk has as `run`, and switches the machine off when it ends. */
const INIT = `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 run /run
mkdir -p /dev/pts /dev/shm /machine
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -o ro /dev/vdb /machine
ln -sf /proc/mounts /etc/mtab
for module in virtio_net nf_conntrack; do modprobe $module; done
ip link set lo up
sh /machine/run
echo "ended with $?"
sync
echo o > /proc/sysrq-trigger
sleep 60
`;

/** An archive with `kernel`, `initrd` and `disk` of a machine of Debian's packages, whose control groups are of version 2. */
export async function machineArchive(): Promise<string> {
  const key = contentKey([...debianFiles(MACHINE), EARLY_INIT, INIT, String(finishRoot), ...DISK_MODULES]);
  return await cachedArchive("machine", key, (folder, file) => {
    const root = `${folder}-root`;
    makeDebianRoot(MACHINE, root);
    mkdirSync(folder);
    const [version] = readdirSync(join(root, "lib/modules"));
    if (!version) throw new Error("Debian's kernel has no modules");
    copyFileSync(join(root, `boot/vmlinuz-${version}`), join(folder, "kernel"));
    execFileSync("chroot", [root, "depmod", version]);
    makeInitrd(root, version, join(folder, "initrd"));
    finishRoot(root);
    makeDisk(root, join(folder, "disk"), "6G");
    execFileSync("tar", ["-C", folder, "--sparse", "-cf", file, "kernel", "initrd", "disk"]);
  });
}

/** What scripts of the packages would do, and what an installer asks for. */
function finishRoot(root: string): void {
  for (const name of [
    "iptables",
    "iptables-save",
    "iptables-restore",
    "ip6tables",
    "ip6tables-save",
    "ip6tables-restore",
  ])
    symlinkSync("xtables-nft-multi", join(root, "usr/sbin", name));
  for (const folder of ["run", "var/lib", "var/log"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "etc/hosts"), "127.0.0.1 localhost\n");
  writeFileSync(join(root, "etc/resolv.conf"), "");
  writeFileSync(join(root, "etc/machine-id"), `${"0123456789abcdef".repeat(2)}\n`);
  writeFileSync(join(root, "sbin/start"), INIT, { mode: 0o755 });
}

/** A disk with the files of a folder. */
export function makeDisk(folder: string, file: string, size: string): void {
  execFileSync("truncate", ["-s", size, file]);
  execFileSync("mke2fs", ["-q", "-t", "ext4", "-d", folder, file]);
}

function makeInitrd(root: string, kernel: string, file: string): void {
  const own = join(root, "early");
  for (const folder of ["bin", "dev", "proc", "disk", "modules"]) mkdirSync(join(own, folder), { recursive: true });
  copyFileSync(join(root, "bin/busybox"), join(own, "bin/busybox"));
  writeFileSync(join(own, "init"), EARLY_INIT);
  chmodSync(join(own, "init"), 0o755);
  const show = (module: string) =>
    execFileSync("chroot", [root, "modprobe", "-S", kernel, "--show-depends", module], { encoding: "utf8" });
  const modules = DISK_MODULES.flatMap((module) => show(module).match(/(?<=^insmod )\S+/gm) ?? []);
  for (const [index, module] of [...new Set(modules)].entries())
    copyFileSync(join(root, module), join(own, "modules", `${String(index).padStart(2, "0")}-${basename(module)}`));
  const pack = "cd /early && find . | cpio --quiet -o -H newc";
  writeFileSync(file, execFileSync("chroot", [root, "sh", "-c", pack], { maxBuffer: 2 ** 28 }));
  execFileSync("rm", ["-r", own]);
}
