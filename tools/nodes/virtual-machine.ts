import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ARCHITECTURE, machineArchive, makeDisk } from "./images/machine.ts";

/** How each architecture is emulated: slower than the machine itself, but without support by its processor. */
const EMULATORS: Readonly<
  Record<string, { program: string; from: string; machine: readonly string[]; console: string }>
> = {
  amd64: { program: "qemu-system-x86_64", from: "qemu-system-x86", machine: ["-cpu", "max"], console: "ttyS0" },
  arm64: {
    program: "qemu-system-aarch64",
    from: "qemu-system-arm",
    machine: ["-M", "virt", "-cpu", "max"],
    console: "ttyAMA0",
  },
};
const EMULATOR = EMULATORS[ARCHITECTURE];

/** Why there can be no virtual machine here; false if there can. */
export function whyNoVirtualMachine(): string | false {
  if (!EMULATOR) return `no virtual machine: ${ARCHITECTURE} is not emulated`;
  const programs = { [EMULATOR.program]: EMULATOR.from, mke2fs: "e2fsprogs" };
  const missing = Object.entries(programs).filter(([program]) => spawnSync("which", [program]).status !== 0);
  return (
    missing.length > 0 && missing.map(([program, from]) => `${program} is missing: apt-get install ${from}`).join("; ")
  );
}

export interface VirtualMachineOptions {
  /** Runs in it; when it ends, the machine is switched off. Files are in /machine. */
  readonly script: string;
  /** Files that it gets, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** The tap interface of this machine that its network card is connected to. */
  readonly tap?: string;
}

/** A machine with its own kernel, emulated by QEMU. */
export class VirtualMachine implements AsyncDisposable {
  /** What it has printed. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#ended = once(child, "exit");
    createInterface({ input: child.stdout! }).on("line", (line) => this.lines.push(line.trimEnd()));
  }

  static async start({ script, files, tap }: VirtualMachineOptions): Promise<VirtualMachine> {
    const archive = await machineArchive();
    const folder = mkdtempSync(join(tmpdir(), "konverge-machine-"));
    execFileSync("tar", ["-C", folder, "-xf", archive]);
    const given = join(folder, "given");
    mkdirSync(given);
    for (const [name, file] of Object.entries(files)) copyFileSync(file, join(given, name));
    writeFileSync(join(given, "run"), script);
    makeDisk(given, join(folder, "files"), "2G");
    rmSync(given, { recursive: true });
    const { program, machine, console } = EMULATOR!;
    const drives = ["disk", "files"].flatMap((name) => ["-drive", `file=${join(folder, name)},if=virtio,format=raw`]);
    const network = tap
      ? ["-netdev", `tap,id=network,ifname=${tap},script=no,downscript=no`, "-device", "virtio-net-pci,netdev=network"]
      : ["-nic", "none"];
    const boot = ["-kernel", join(folder, "kernel"), "-initrd", join(folder, "initrd")];
    const args = [...machine, "-accel", "tcg,thread=multi", "-smp", "2", "-m", "3072", ...boot, ...drives, ...network];
    const options = ["-append", `console=${console} quiet panic=1`, "-nographic", "-no-reboot"];
    const child = spawn(program, [...args, ...options], { stdio: ["ignore", "pipe", "inherit"] });
    return new VirtualMachine(child, folder);
  }

  /** The exit code of its script. */
  async exitCode(): Promise<number> {
    await this.#ended;
    const [, code] =
      /^ended with (\d+)$/.exec(this.lines.findLast((line) => line.startsWith("ended with ")) ?? "") ?? [];
    if (code === undefined) throw new Error(`the machine has ended:\n${this.lines.slice(-20).join("\n")}`);
    return Number(code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
