import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "@konverge/schema";
import { type Exploration, explorationText, FAULT_FAMILIES, findingText, oracleMeaning } from "@konverge/testing";
import { UsageError } from "../usage-error.ts";
import type { ToolList } from "./tool.ts";

/** Where explorations are written, below the project. */
const RESULTS = join(".konverge", "exploration");
/** Seconds after which an exploration of a tool ends with what it has found. */
const LONGEST = 600;

const file = z
  .string()
  .default(join(RESULTS, "exploration.json"))
  .describe("exploration.json that konverge explore --results wrote, in the folder of the project");

/** The tool that explains what an exploration found. */
export function explainingTool(add: ToolList, folder: string): void {
  add(
    {
      name: "explain_finding",
      description:
        "A finding of the fault explorer: what its oracle means, the fault, and the timeline of the shortest run that shows it. Without a number: a list of all findings.",
      input: z.object({ file, number: z.int().min(1).optional() }),
    },
    async ({ file: path, number }) => {
      const exploration = read(inside(folder, path));
      const { findings } = exploration;
      if (number === undefined) {
        const list = findings.map(({ oracle, message }, i) => `${i + 1}. ${oracle}: ${message}`);
        return [explorationText(exploration), ...list].join("\n");
      }
      const finding = findings[number - 1];
      if (!finding) throw new UsageError(`there are ${findings.length} findings: ${number} is not one of them`);
      const meaning = oracleMeaning(finding.oracle);
      return `${meaning === undefined ? "" : `${finding.oracle}: ${meaning}\n\n`}${findingText(finding)}`;
    },
  );
}

/** The tool that explores. It runs the code of the project. */
export function exploringTool(add: ToolList, folder: string): void {
  add(
    {
      name: "explore",
      description:
        "Runs an operator of this project on virtual time with a fault at every point, on a separate cluster, and returns what it found. Use explain_finding for the details.",
      input: z.object({
        module: z.string().default("src/operator.ts").describe("module that exports an operator, or a scenario"),
        faults: z.array(z.enum(FAULT_FAMILIES)).optional().describe("families of faults (default: all)"),
        seconds: z.int().min(1).max(LONGEST).default(120).describe("time limit"),
      }),
      writes: true,
    },
    async ({ module, faults, seconds }) => {
      const { exploreFromCommandLine } = await import("../explore/explore-command.ts");
      const results = join(folder, RESULTS);
      mkdirSync(results, { recursive: true });
      const lines: string[] = [];
      await exploreFromCommandLine(
        {
          ...{ module: inside(folder, module), depth: 1, seed: 1, findings: 10, time: seconds * 1000, results },
          ...{ output: "text", ...(faults && { faults: faults.join(",") }) },
        } as Parameters<typeof exploreFromCommandLine>[0],
        { loaded: new Set(), print: (text) => lines.push(text), progress: () => {} },
      );
      return lines.join("\n");
    },
  );
}

/** A path of the project: agents read and run nothing else through this server. */
function inside(folder: string, path: string): string {
  const full = resolve(folder, path);
  const from = relative(folder, full);
  const isOutside = (where: string) => where.startsWith("..") || resolve(where) === where;
  // A link in the folder can lead out of it.
  if (isOutside(from) || (existsSync(full) && isOutside(relative(realpathSync(folder), realpathSync(full)))))
    throw new UsageError(`${path} is not in the folder of the project`);
  return full;
}

function read(path: string): Exploration {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Exploration;
  } catch (error) {
    throw new UsageError(`${path} cannot be read: explore first, or name the file of konverge explore --results`, {
      cause: error,
    });
  }
}
