import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPrograms, MissingPrerequisites } from "@konverge/linux-node";
import { devicePluginFile } from "./device-plugin.ts";
import type { MachineBase } from "./machine-images.ts";

/** Lets the lane run without a GPU: with small models on the processor, and without the device plugin. */
export const isWithoutGpu = () => process.env["KONVERGE_GPU"] === "none";

/** Where a Python with PyTorch may be, first of all where the variable says. */
const PLACES = ["/opt/torch/.venv/bin/python3", "/opt/venv/bin/python3", "/opt/conda/bin/python3"];
/** Prints where Python and PyTorch are, and the GPU. */
const ASK = `import json, sys, torch
gpu = torch.cuda.is_available()
name = torch.cuda.get_device_name() if gpu else None
print(json.dumps({"prefixes": [sys.prefix, sys.base_prefix], "torch": torch.__version__, "cuda": torch.version.cuda, "gpu": name}))`;

/** A machine that can run the lane. */
export interface GpuMachine extends MachineBase {
  readonly torch: string;
  readonly cuda: string;
  readonly gpu: string;
  readonly driver: string;
}

let found: ReturnType<typeof inspectMachine> | undefined;

/** This machine, or the sentences that say what it lacks. It is inspected once: PyTorch takes seconds to start. */
export function findMachine(): GpuMachine | { readonly missing: readonly string[] } {
  found ??= inspectMachine();
  return found;
}

function inspectMachine(): GpuMachine | { readonly missing: readonly string[] } {
  const missing: string[] = [];
  try {
    findPrograms();
  } catch (error) {
    if (!(error instanceof MissingPrerequisites)) throw error;
    missing.push(...error.missing);
  }
  if (spawnSync("tar", ["--version"]).status !== 0) missing.push("tar is missing");
  if (!isWithoutGpu()) {
    if (!readdirSync("/dev").some((name) => /^nvidia\d+$/.test(name)))
      missing.push("/dev/nvidia0 is missing: this machine has no NVIDIA GPU, or its driver is not loaded");
    if (!existsSync(devicePluginFile())) {
      missing.push("NVIDIA's device plugin is not built: npm run test:gpu -- --build");
    }
  }
  const python = findPython();
  if (!python) missing.push("no Python with PyTorch was found: name one in the variable KONVERGE_GPU_PYTHON");
  if (missing.length > 0 || !python) return { missing };
  const answer = ask(python);
  if (typeof answer === "string") return { missing: [`${python} cannot import PyTorch: ${answer}`] };
  if (!answer.gpu && !isWithoutGpu())
    return { missing: [`PyTorch ${answer.torch} of ${python} finds no GPU (CUDA ${answer.cuda})`] };
  return {
    python,
    folders: [...answer.prefixes.map((one) => realpathSync(one)), dirname(dirname(realpathSync(python)))].filter(
      isOutside,
    ),
    torch: answer.torch,
    cuda: answer.cuda ?? "none",
    gpu: answer.gpu ?? "none",
    driver: driverVersion(),
  };
}

/** Why the lane cannot run on this machine; false if it can. */
export function whyNoGpu(): string | false {
  const found = findMachine();
  return "missing" in found && `no GPU lane: ${found.missing.join("; ")}`;
}

const isOutside = (folder: string) => !/^\/(usr|opt)(\/|$)/.test(folder);

interface Answer {
  readonly prefixes: readonly string[];
  readonly torch: string;
  readonly cuda: string | null;
  readonly gpu: string | null;
}

/** What a Python says, or the last line of its error. */
function ask(python: string): Answer | string {
  const { status, stdout, stderr } = spawnSync(python, ["-c", ASK], { encoding: "utf8", timeout: 120_000 });
  if (status === 0) return JSON.parse(stdout.trim().split("\n").at(-1)!) as Answer;
  return stderr.trim().split("\n").at(-1) ?? "";
}

/** The first Python that has PyTorch. */
export function findPython(): string | undefined {
  const given = process.env["KONVERGE_GPU_PYTHON"];
  if (given) return given;
  const inPath = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, "python3"));
  return [...PLACES, ...inPath, ...inOpt()].find((python) => {
    try {
      accessSync(python, constants.X_OK);
    } catch {
      return false;
    }
    const find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
    return spawnSync(python, ["-c", find]).status === 0;
  });
}

/** Environments in /opt under other names. */
function inOpt(): string[] {
  const folders = (parent: string) => {
    try {
      return readdirSync(parent).map((name) => join(parent, name));
    } catch {
      return [];
    }
  };
  const first = folders("/opt");
  return [...first, ...first.flatMap(folders)].map((folder) => join(folder, "bin/python3"));
}

function driverVersion(): string {
  try {
    const text = execFileSync("cat", ["/proc/driver/nvidia/version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return /\b(\d{3}\.\d+(\.\d+)?)\b/.exec(text)?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}
