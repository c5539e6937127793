import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeImageArchive } from "@konverge/real/image-archive.ts";
import { DEVICE_PLUGIN_VERSION, devicePluginFile } from "./device-plugin.ts";

const PROGRAMS = join(import.meta.dirname, "programs");
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** What programs of most machines need of it: the linker's cache, and the links that choose among versions of programs. */
const BASE = ["/usr", "/opt", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl"];

/** An image that is nearly empty: {@link writeRuntime} mounts the files of the machine into its containers. */
interface MachineImage {
  readonly name: string;
  /** Files of the image, by their paths in it. */
  readonly files: Readonly<Record<string, string>>;
  readonly env?: readonly string[];
  readonly entrypoint?: readonly string[];
}

/** The images of the lane. */
function images(python: string, hasDevicePlugin: boolean): MachineImage[] {
  const plugin = {
    name: `nvcr.io/nvidia/k8s-device-plugin:v${DEVICE_PLUGIN_VERSION}`,
    files: { "usr-bin/nvidia-device-plugin": devicePluginFile() },
    env: ["NVIDIA_VISIBLE_DEVICES=all"],
    entrypoint: ["/usr-bin/nvidia-device-plugin"],
  };
  const program = (name: string) => join(PROGRAMS, name);
  return [
    {
      name: "docker.io/konverge/gpu-trainer:1",
      files: Object.fromEntries(
        ["train.py", "load.py", "compute.py"].map((name) => [`workspace/${name}`, program(name)]),
      ),
    },
    {
      name: "docker.io/konverge/gpu-server:1",
      files: { "serve.py": program("serve.py") },
      entrypoint: [python, "/serve.py"],
    },
    ...(hasDevicePlugin ? [plugin] : []),
  ];
}

/** What the machine is for its containers. */
export interface MachineBase {
  /** Its Python with PyTorch. */
  readonly python: string;
  /** Folders besides /usr and /opt that this Python consists of. */
  readonly folders: readonly string[];
}

/** Writes the archives of the lane's images, and returns their files. */
export function writeMachineImages(folder: string, base: MachineBase, hasDevicePlugin: boolean): string[] {
  const env = [
    `KONVERGE_BASE=${[...new Set([...BASE, ...base.folders])].join(":")}`,
    `PATH=${dirname(base.python)}:${SYSTEM_PATH}`,
    "PYTHONUNBUFFERED=1",
    // Users of containers have no entry in /etc/passwd.
    "HOME=/tmp",
    "USER=lane",
  ];
  return images(base.python, hasDevicePlugin).map((image, index) => {
    const archive = join(folder, `image-${index}.tar`);
    const rootfs = mkdtempSync(join(tmpdir(), "konverge-rootfs-"));
    try {
      makeRoot(rootfs, image);
      const config = { Env: [...env, ...(image.env ?? [])], ...(image.entrypoint && { Entrypoint: image.entrypoint }) };
      writeImageArchive(archive, { name: image.name, rootfs, config });
    } finally {
      rmSync(rootfs, { recursive: true, force: true });
    }
    return archive;
  });
}

function makeRoot(rootfs: string, { files }: MachineImage): void {
  chmodSync(rootfs, 0o755);
  for (const name of ["usr", "opt", "etc", "tmp", "proc", "sys", "dev", "run", "var", "home"])
    mkdirSync(join(rootfs, name));
  chmodSync(join(rootfs, "tmp"), 0o1777);
  for (const name of ["bin", "sbin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(rootfs, name));
  writeFileSync(join(rootfs, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  writeFileSync(join(rootfs, "etc/group"), "root:x:0:\n");
  writeFileSync(join(rootfs, "etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(rootfs, path)), { recursive: true });
    copyFileSync(source, join(rootfs, path));
    chmodSync(join(rootfs, path), 0o755);
  }
}

/** Writes the OCI runtime of these images: with this machine's Python, wherever that is. */
export function writeRuntime(folder: string, { python }: MachineBase): string {
  const file = join(folder, "machine-runtime");
  const [, ...lines] = readFileSync(join(PROGRAMS, "machine-runtime.py"), "utf8").split("\n");
  // Isolated, and without the packages that are installed: it runs several times for each container.
  writeFileSync(file, [`#!${python} -IS`, ...lines].join("\n"), { mode: 0o755 });
  return file;
}
