// From an empty folder to a converged object, and the commands after it, as a user waits for them.
//   node bench/command/run.ts [runs]
// The packages are packed first. npm's cache has what it needs, as after a first project.
import { join } from "node:path";
import { connect } from "@konverge/client";
import { ConfigMap } from "@konverge/kinds";
import { NewProject } from "../../scripts/project/new-project.ts";
import { until } from "../../scripts/project/servers.ts";
import { packTarballs } from "../../scripts/release/tarballs.ts";
import { endedCpuSeconds } from "../harness/processes.ts";
import { table, writeResult } from "../harness/results.ts";

const [runs = 3] = process.argv.slice(2).map(Number);
const WAY = ["npm create konverge", "npm start, to a converged object"];
/** Seconds of a command. */
interface Spent {
  readonly wall: number;
  readonly cpu: number;
}
const spent = new Map<string, Spent[]>();

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const [began, before] = [performance.now(), endedCpuSeconds()];
  await work();
  const [wall, cpu] = [(performance.now() - began) / 1000, endedCpuSeconds() - before];
  spent.set(what, [...(spent.get(what) ?? []), { wall, cpu }]);
}

async function way(): Promise<void> {
  await using project = new NewProject("cache-operator");
  const npm = (...args: string[]) => project.run("npm", args);
  await timed(WAY[0]!, () => project.create("--kind", "Cache"));
  await timed(WAY[1]!, () => npm("start"));
  await timed("npx konverge create api", () =>
    project.run("npx", ["konverge", "create", "api", "--group", "ml", "--version", "v1alpha1", "--kind", "Job"]),
  );
  await timed("npm run check", () => npm("run", "check"));
  await timed("npm test, two kinds, each with 40 faults", () => npm("test"));
  await timed("npx konverge manifests", () =>
    project.run("npx", ["konverge", "manifests", "--image", "registry.example.com/cache-operator:v1"]),
  );
  const options = ["--no-console", "--name", `bench-${process.pid}`];
  let dev: ReturnType<NewProject["start"]> | undefined;
  const text = async () => {
    await using client = await connect({ kubeconfig: join(project.folder, ".konverge", "kubeconfig") });
    return (await client.get(ConfigMap, "default/cache-sample")).data?.["text"];
  };
  const printed = () => dev?.output ?? "";
  await timed("npm run dev, to a converged sample", async () => {
    dev = project.start("npm", "run", "dev", "--", ...options);
    await until("the sample has its ConfigMap", async () => (await text()) === "hello", printed);
  });
  await timed("an edit, until it takes effect", async () => {
    project.edit("src/cache.ts", "data: { text: spec.text }", "data: { text: spec.text.toUpperCase() }");
    await until("the edit takes effect", async () => (await text()) === "HELLO", printed);
  });
  await dev?.kill("SIGTERM");
}

await packTarballs();
await using warm = new NewProject("warm");
await warm.create();
for (let run = 1; run <= runs; run++) await way();

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
function row([what, values]: [string, readonly Spent[]]): string[] {
  const [wall, cpu] = [values.map((one) => one.wall), values.map((one) => one.cpu)];
  // Programs that keep running, such as dev, have no CPU time yet when they are ready.
  return [what, median(wall).toFixed(1), Math.min(...wall).toFixed(1), median(cpu) ? median(cpu).toFixed(1) : ""];
}
const whole = Array.from({ length: runs }, (_, run) => {
  const parts = WAY.map((what) => spent.get(what)![run]!);
  const sum = (of: (one: Spent) => number) => parts.reduce((all, one) => all + of(one), 0);
  return { wall: sum(({ wall }) => wall), cpu: sum(({ cpu }) => cpu) };
});
const isWay = ([what]: readonly [string, unknown]) => WAY.includes(what);
const rows = [...spent];
writeResult(
  "command",
  "From an empty folder to a converged object",
  `Runs: ${runs}, each in a new folder, with the packed packages and a filled npm cache. Aim: a
converged object within 30 seconds on an idle machine; on one that is busy with other things, compare the CPU seconds.

${table(
  ["command", "wall, s, median", "wall, s, fastest", "CPU, s"],
  [
    ...rows.filter(isWay).map(row),
    row(["**from an empty folder to a converged object**", whole]),
    ...rows.filter((one) => !isWay(one)).map(row),
  ],
)}`,
);
