// `npm run test:gpu`: operators and real workloads on a GPU of this machine; skipped where there is none, with the reason.
// `-- --build` builds what is missing before. `-- --pack [--split MIB]` writes what a machine without a network needs to dist/gpu.
// `-- --checks` only says what the machine is and what of it works.
// `-- --without-gpu` runs all but the device plugin, with small models on the processor. `-- --only PATTERN` runs scenarios by name.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildDevicePlugin, checkMachine, pack } from "../tools/gpu/index.ts";

const { values } = parseArgs({
  options: {
    build: { type: "boolean", default: false },
    checks: { type: "boolean", default: false },
    pack: { type: "boolean", default: false },
    split: { type: "string" },
    "without-gpu": { type: "boolean", default: false },
    only: { type: "string" },
  },
});
const repository = join(import.meta.dirname, "..");
if (values["without-gpu"]) process.env["KONVERGE_GPU"] = "none";
if (values.pack) {
  const parts = pack(repository, join(repository, "dist", "gpu"), values.split ? Number(values.split) : undefined);
  console.log(parts.join("\n"));
  process.exit(0);
}
if (values.checks) process.exit(checkMachine() ? 0 : 1);
if (values.build && !values["without-gpu"]) buildDevicePlugin();
const { status } = spawnSync(
  process.execPath,
  [
    "--disable-warning=ExperimentalWarning",
    // Run as a file, so that its output appears at once.
    ...["--test-timeout=1200000", "--test-reporter=./scripts/scenario-reporter.ts"],
    ...["--test-reporter-destination=stdout", "--test-reporter=spec"],
    "--test-reporter-destination=stdout",
    ...(values.only ? [`--test-name-pattern=${values.only}`] : []),
    "tools/gpu/gpu.nodes.test.ts",
  ],
  { cwd: repository, stdio: "inherit" },
);
process.exit(status ?? 1);
