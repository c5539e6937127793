import type { Database } from "./database.ts";
import type { Member, Situation, Step } from "./leadership.ts";
import type { RolloutStep } from "./rollout.ts";

/** On a Database: the servers that are stopped, `*` or the names of their pods with commas between them. */
export const FENCE = "databases.example.com/fence";

/** How a fenced server reports itself. */
export const HALTED = "halted";

const SOON = 1_000;

/** The servers that the user has fenced: they do not run, and their pods and data stay as they are. */
export function fencedServers({ metadata }: Pick<Database, "metadata">, names: readonly string[]): readonly string[] {
  const text = metadata.annotations?.[FENCE];
  if (text === undefined) return [];
  const given = text.split(",").map((name) => name.trim());
  return given.includes("*") ? names : names.filter((name) => given.includes(name));
}

/** A fenced primary is not replaced: the user wants its data to stay as they are. Nor is one that has yet to read that it can run. */
export function fencedStep(
  { topology, members }: Pick<Situation, "topology" | "members">,
  fenced: readonly string[],
): Step | undefined {
  const { primary, operation } = topology;
  if (operation) return undefined;
  if (!fenced.includes(primary)) {
    const isHalted = members.find(({ name }) => name === primary)?.report?.role === HALTED;
    const message = `${primary} is no longer fenced, and is about to run`;
    return isHalted ? { topology, problem: { reason: "Fenced", message }, after: SOON } : undefined;
  }
  const message = `${primary} is fenced: no server accepts writes, and none is promoted, until the annotation ${FENCE} is changed`;
  return { topology, problem: { reason: "Fenced", message } };
}

/** No pod of a Database is replaced while a server of it is fenced. */
export function fencedRollout(due: RolloutStep, fenced: readonly string[]): RolloutStep {
  if (due.step === "none" || fenced.length === 0) return due;
  return { step: "wait", message: `${fenced.join(", ")} is fenced: pods are replaced when that ends` };
}

/** What is not ready because it is fenced, in words. */
export function fenceText(members: readonly Member[]): string {
  const halted = members.filter(({ report }) => report?.role === HALTED).map(({ name }) => name);
  return halted.length > 0 ? `; fenced: ${halted.join(", ")}` : "";
}
