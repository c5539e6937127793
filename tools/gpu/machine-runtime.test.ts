import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeRuntime } from "./machine-images.ts";

const python = spawnSync("sh", ["-c", "command -v python3"], { encoding: "utf8" }).stdout.trim();
const skip = (process.platform !== "linux" || python === "") && "no Python on Linux";

interface Config {
  readonly process: { readonly env: readonly string[] };
  readonly mounts: readonly { readonly destination: string; readonly options: readonly string[] }[];
  readonly linux: { readonly devices?: readonly { readonly path: string }[] };
}

/** Runs the runtime in front of a runc that prints what it is called with. */
function created(t: TestContext, env: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "konverge-runtime-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const runtime = writeRuntime(folder, { python, folders: [] });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "runc"), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(folder, "bin", "runc"), 0o755);
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify({ process: { env }, mounts: [{ destination: "/proc" }], linux: {} }));
  const PATH = `${join(folder, "bin")}:${process.env["PATH"]}`;
  const words = ["--root", "/run/runc", "create", "--bundle", folder, "one"];
  const output = execFileSync(runtime, words, { encoding: "utf8", env: { ...process.env, PATH } });
  assert.equal(output.trim(), words.join(" "), "runc gets the same arguments");
  return JSON.parse(readFileSync(file, "utf8")) as Config;
}

test("paths of the machine that exist are mounted read-only, before all volumes", { skip }, (t) => {
  const { mounts } = created(t, ["PATH=/usr/bin", "KONVERGE_BASE=/usr:/etc/ssl:/no/such/folder"]);
  assert.deepEqual(
    mounts.map(({ destination }) => destination),
    ["/usr", "/etc/ssl", "/proc"],
  );
  assert.deepEqual(mounts[0]!.options, ["rbind", "ro"]);
});

test("a container that names neither files of the machine nor GPUs stays as it is", { skip }, (t) => {
  const { mounts, linux } = created(t, ["NVIDIA_VISIBLE_DEVICES=void"]);
  assert.deepEqual(mounts, [{ destination: "/proc" }]);
  assert.deepEqual(linux, {});
});

test("a GPU is found by its UUID or index, beside the files that all GPUs share", { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-gpus-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const minor of [0, 1]) {
    mkdirSync(join(folder, "proc", `gpu${minor}`), { recursive: true });
    writeFileSync(
      join(folder, "proc", `gpu${minor}`, "information"),
      `GPU UUID: \t GPU-${minor}\nDevice Minor: \t ${minor}\n`,
    );
  }
  // Device files cannot be made without permission: the program takes all files for some.
  const program = `import importlib.util, json, os, stat, sys
spec = importlib.util.spec_from_file_location("runtime", sys.argv[1])
runtime = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runtime)
stat.S_ISCHR = lambda mode: True
found = [runtime.gpu_files(one, sys.argv[2] + "/dev", sys.argv[2] + "/proc") for one in ("all", "GPU-1", "0")]
print(json.dumps([[os.path.basename(path) for path in files] for files in found]))`;
  mkdirSync(join(folder, "dev"));
  for (const name of ["nvidia0", "nvidia1", "nvidiactl", "null"]) writeFileSync(join(folder, "dev", name), "");
  const file = join(import.meta.dirname, "programs/machine-runtime.py");
  const output = execFileSync(python, ["-B", "-c", program, file, folder], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(output), [
    ["nvidia0", "nvidia1", "nvidiactl"],
    ["nvidia1", "nvidiactl"],
    ["nvidia0", "nvidiactl"],
  ]);
});
