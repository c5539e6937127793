// npm run histories [-- --seconds 60] [--seed N] [--clients 8] [--real]
// Random clients on `konverge up` (or on a real kube-apiserver with etcd) that is killed, stopped, slowed and cut off. What they
// sent and received is then checked: linearizability, revisions, lists, and what watches guarantee.
import { parseArgs } from "node:util";
import { findControlPlane } from "@konverge/real";
import { rotatingSeed } from "../../scripts/sample.ts";
import { EmbeddedTarget } from "./embedded-target.ts";
import { startRealTarget } from "./real-target.ts";
import { run } from "./run.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    clients: { type: "string", default: "8" },
    real: { type: "boolean", default: false },
  },
});
const [seconds, clients] = [Number(values.seconds), Number(values.clients)];
const seed = rotatingSeed(values.seed);
if (!(seconds > 0) || !(Number.isInteger(clients) && clients > 0)) {
  console.error("usage: npm run histories -- [--seconds N] [--seed N] [--clients N] [--real]");
  process.exit(2);
}
const plane = findControlPlane();
if (values.real && !plane.available) {
  console.log(`${plane.why}\n\n0 passed, 0 failed, 1 skipped`);
  process.exit(0);
}

console.log(`${clients} clients for ${seconds} s on ${values.real ? "kube-apiserver" : "konverge up"}, --seed ${seed}`);
const target = values.real ? await startRealTarget() : await EmbeddedTarget.start();
const { checks, numbers } = await run(target, { seconds, seed, clients }).catch(async (error: unknown) => {
  await target.close();
  console.error(error);
  console.log("\n0 passed, 1 failed");
  process.exit(1);
});
await target.close();
for (const [name, count] of Object.entries(numbers)) console.log(`${String(count).padStart(8)} ${name}`);
for (const { what, problems } of checks) {
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${what}`);
  for (const problem of problems.slice(0, 5)) console.log(`       ${problem.replaceAll("\n", "\n       ")}`);
  if (problems.length > 5) console.log(`       and ${problems.length - 5} more`);
}
const failed = checks.filter(({ problems }) => problems.length > 0).length;
if (failed > 0) console.log(`repeat the choices with --seed ${seed}`);
console.log(`\n${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
