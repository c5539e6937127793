import { existsSync } from "node:fs";
import {
  type Controller,
  Metrics,
  type Operator,
  type ReplayedReconcile,
  recordedReconcileText,
  replayDifferenceText,
  replayRecording,
  silentLog,
} from "@konverge/runtime";
import { settingsOf } from "../operators/settings.ts";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

export interface ReplayOptions {
  /** Only reconciles of this controller. */
  readonly controller?: string;
  /** Only reconciles of this object: `namespace/name`. */
  readonly object?: string;
  /** Show reconciles that come out the same, too. */
  readonly all?: boolean;
  /** Write lines of JSON instead of text. */
  readonly output?: Output;
}

/** What a replay has around it. */
export interface ReplayWorld {
  /** Settings of operators that were given as flags. */
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tell: (line: string) => void;
}

/** What came of a replay. */
export interface ReplaySummary {
  readonly same: number;
  readonly different: number;
  readonly skipped: number;
}

/** Replays a recording with operators, and reports what they would do differently. */
export async function replayFile(
  file: string,
  operators: readonly Operator[],
  options: ReplayOptions,
  world: ReplayWorld,
): Promise<ReplaySummary> {
  const { tell } = world;
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}: name one that an operator has recorded`);
  const controllers = operators.flatMap((operator) => controllersOf(operator, world));
  let [same, different] = [0, 0];
  const skipped = new Map<string, number>();
  for await (const one of replayRecording(file, controllers)) {
    const { controller, key } = one.recorded;
    if (options.controller !== undefined && options.controller !== controller) continue;
    if (options.object !== undefined && options.object !== key) continue;
    if (one.skipped !== undefined) skipped.set(one.skipped, (skipped.get(one.skipped) ?? 0) + 1);
    else if (one.differences.length > 0) different++;
    else same++;
    if (one.differences.length > 0 || (options.all && one.skipped === undefined)) {
      tell(options.output === "json" ? jsonOf(one) : textOf(one));
    }
  }
  const left = [...skipped.values()].reduce((sum, count) => sum + count, 0);
  if (options.output !== "json") {
    for (const [why, count] of skipped) tell(`${count} not replayed: ${why}`);
    tell(`${same + different} reconciles replayed: ${same} the same, ${different} different`);
  }
  return { same, different, skipped: left };
}

/** The controllers of an operator, made with its settings. */
function controllersOf(operator: Operator, { flags, env }: ReplayWorld): readonly Controller[] {
  const settings = settingsOf(operator, { flags, env });
  return operator.create({ metrics: new Metrics({ process: false }).registry, settings, log: silentLog }).controllers;
}

function textOf({ recorded, differences, unrecorded }: ReplayedReconcile): string {
  return [
    recordedReconcileText(recorded),
    ...differences.map(replayDifferenceText),
    ...unrecorded.map((text) => `  ? ${text}`),
  ].join("\n");
}

function jsonOf({ recorded, differences, unrecorded }: ReplayedReconcile): string {
  const { controller, key, at } = recorded;
  return JSON.stringify({ controller, key, at, differences, unrecorded });
}
