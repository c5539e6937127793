import { type Clock, realClock } from "@konverge/core";
import type { DestinationStream } from "pino";
import type { Log } from "../log.ts";
import { pinoLogger } from "./on-demand.ts";

/** From the most talkative to the quietest. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface ProcessLogOptions {
  /** Default: LOG_LEVEL from the environment, otherwise info. */
  level?: LogLevel;
  /** Default: the machine's. */
  clock?: Clock;
  /** Where lines go. Default: standard output. */
  destination?: DestinationStream;
  env?: Readonly<Record<string, string | undefined>>;
}

/** A log whose level can be changed while the program runs, for all that was made from it, too. */
export interface ProcessLog extends Log {
  level: LogLevel;
}

/**
 * The log of a process: JSON lines by pino.
 *
 * ```ts
 * const log = processLog();
 * log.level = "debug"; // or over HTTP: PUT /loglevel
 * ```
 */
export function processLog(options: ProcessLogOptions = {}): ProcessLog {
  const { clock = realClock(), destination, env = process.env } = options;
  const { pino } = pinoLogger();
  const logger = pino(
    {
      level: "trace",
      base: undefined,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? pino.destination({ fd: 1, sync: false }),
  );
  // Children of pino loggers keep the level they were born with, so the level is ours.
  const state = { level: levelIndex(options.level ?? env["LOG_LEVEL"] ?? "info") };
  const log = levelled(logger, state);
  return Object.defineProperty(log, "level", {
    get: () => LOG_LEVELS[state.level],
    set: (level: string) => {
      state.level = levelIndex(level);
    },
  }) as ProcessLog;
}

function levelled(logger: Log, state: { level: number }): Log {
  const at = (level: "debug" | "info" | "warn" | "error") => {
    const index = levelIndex(level);
    return (fields: object, message: string) => {
      if (index >= state.level) logger[level](fields, message);
    };
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => levelled(logger.child(fields), state),
  };
}

function levelIndex(level: string): number {
  const index = LOG_LEVELS.indexOf(level.toLowerCase() as LogLevel);
  if (index < 0) throw new TypeError(`there is no log level ${level}: use one of ${LOG_LEVELS.join(", ")}`);
  return index;
}
