// `npm run test:real`: the suites that need a real control plane, or the files that are named behind `--`.
// `npm run test:real -- --sample 2` runs half of the files, another half for each commit; `--seed N` repeats a choice.
// `npm run test:real -- --kubernetes 1.34.4` runs those of the client and the runtime on an older one, which it builds first.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { rotatingSeed, sample } from "./sample.ts";
import { realTests, runAll } from "./steps.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kubernetes: { type: "string" }, sample: { type: "string" }, seed: { type: "string" } },
});

let files = positionals;
if (values.kubernetes) {
  const built = spawnSync("node", ["tools/real/build.ts", "--kubernetes", values.kubernetes], { stdio: "inherit" });
  if (built.status !== 0) process.exit(1);
  process.env.KONVERGE_KUBERNETES = values.kubernetes;
  // The others compare with what the embedded server does, which speaks one version.
  if (files.length === 0)
    files = realTests().filter((file) => readFileSync(file, "utf8").includes("KONVERGE_KUBERNETES"));
}
if (values.sample) {
  const [seed, all] = [rotatingSeed(values.seed), files.length > 0 ? files : realTests()];
  files = sample(all, Number(values.sample), seed);
  console.log(`real tests: ${files.length} of ${all.length} files, --sample ${values.sample} --seed ${seed}`);
}
process.exit(await runAll(["real tests"], files));
