import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { findPython, isWithoutGpu } from "./requirements.ts";

/** Prints what this machine is, and which of the things that the lane depends on work here. */
export function checkMachine(): boolean {
  const python = findPython();
  if (!python) {
    console.log("FAIL no Python with PyTorch was found: name one in the variable KONVERGE_GPU_PYTHON");
    return false;
  }
  const program = join(import.meta.dirname, "programs/checks.py");
  return spawnSync(python, ["-u", program, python, isWithoutGpu() ? "none" : "gpu"], { stdio: "inherit" }).status === 0;
}
