// npm run compile:peers -- [NAME …]
// Fetches operators in Go of other projects from the module proxy, compiles each for js/wasm as `konverge explore --go` does, and prints
// a row of the guide's table for each: whether it compiles as it is, and if not, what it needs.
import { realClock } from "@konverge/core";
import { compileGoOperator, GO_OPERATORS } from "./go-operators.ts";

const names = process.argv.slice(2);
const unknown = names.find((name) => !GO_OPERATORS.some((one) => one.name === name));
if (unknown !== undefined) {
  console.error(`${unknown} is not among ${GO_OPERATORS.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const clock = realClock();
console.log("| operator | compiles | size | time |\n|---|---|---|---|");
for (const operator of GO_OPERATORS) {
  if (names.length > 0 && !names.includes(operator.name)) continue;
  const begun = clock.monotonic();
  const { size, problem, folder } = compileGoOperator(operator);
  const time = `${((clock.monotonic() - begun) / 60_000).toFixed(1)} min`;
  const [answer, megabytes] =
    size === undefined
      ? [`no: ${problem!.split(/The compiler's output:|\n/)[0]!.trim()}`, ""]
      : ["yes", `${(size / 1e6).toFixed(0)} MB`];
  console.log(`| ${operator.name} ${operator.version} | ${answer} | ${megabytes} | ${time} |`);
  console.error(`${operator.name}: ${folder}`);
}
