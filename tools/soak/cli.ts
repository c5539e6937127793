// npm run soak [-- --seconds 60] [--seed N]
// Random clients on a server that is killed and restarted from its file, and whose connections are cut. Afterwards: no
// acknowledged write lost, no watch event lost, told twice or out of order.
import { parseArgs } from "node:util";
import { realClock } from "@konverge/core";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? realClock().random.below(2 ** 32) : Number(values.seed);
if (!(seconds > 0) || !Number.isSafeInteger(seed)) {
  console.error("usage: npm run soak -- [--seconds N] [--seed N]");
  process.exit(2);
}

console.log(`soaking for ${seconds} s, seed ${seed}`);
const { checks, numbers } = await soak({ seconds, seed }).catch((error: unknown) => {
  console.error(error);
  console.log("\n0 passed, 1 failed");
  process.exit(1);
});
for (const [name, count] of Object.entries(numbers)) console.log(`${String(count).padStart(8)} ${name}`);
for (const { what, problems } of checks) {
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${what}`);
  for (const problem of problems.slice(0, 5)) console.log(`       ${problem}`);
  if (problems.length > 5) console.log(`       and ${problems.length - 5} more`);
}
const failed = checks.filter(({ problems }) => problems.length > 0).length;
if (failed > 0) console.log(`repeat the choices with --seed ${seed}`);
console.log(`\n${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
