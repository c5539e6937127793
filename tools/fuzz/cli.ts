// npm run fuzz [-- --seconds 60] [--seed N]
// Malformed and hostile requests of every content type, verb and subresource, and connections with worse on them, against
// `konverge up` in a separate process. The seed decides what is sent; by default it changes with every commit.
import { parseArgs } from "node:util";
import { rotatingSeed } from "../../scripts/sample.ts";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } } });
const seconds = Number(values.seconds);
const seed = rotatingSeed(values.seed);
if (!(seconds > 0)) {
  console.error("usage: npm run fuzz -- [--seconds N] [--seed N]");
  process.exit(2);
}

// The server ends with this process, however that ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
console.log(`fuzzing for ${seconds} s, --seed ${seed}`);
const { checks, numbers } = await fuzz({ seconds, seed }).catch((error: unknown) => {
  console.error(error);
  console.log("\n0 passed, 1 failed");
  process.exit(1);
});
for (const [name, value] of Object.entries(numbers)) console.log(`  ${name}: ${value}`);
for (const { what, problems } of checks) {
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${what}`);
  for (const problem of problems.slice(0, 10)) console.log(`       ${problem.replaceAll("\n", "\n       ")}`);
  if (problems.length > 10) console.log(`       and ${problems.length - 10} more`);
}
const failed = checks.filter(({ problems }) => problems.length > 0).length;
if (failed > 0) console.log(`repeat it with --seconds ${seconds} --seed ${seed}`);
console.log(`\n${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
