import { type Clock, realClock } from "@konverge/core";
import type { DestinationStream } from "pino";
import type { Log } from "../log.ts";
import { pinoLogger } from "./on-demand.ts";
import { readableLine } from "./readable-line.ts";

/** From the most verbose to none. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface ProcessLogOptions {
  /** Default: LOG_LEVEL from the environment, otherwise info. */
  level?: LogLevel;
  /** `text` is readable, `json` is for programs. Default: text in a terminal, otherwise JSON. */
  format?: "text" | "json";
  /** Default: the machine's. */
  clock?: Clock;
  /** Where lines go. Default: standard error. */
  destination?: DestinationStream;
  /** Reads LOG_LEVEL and NO_COLOR. Default: the environment of the process. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** A log whose level can be changed while the program runs, also for its children. */
export interface ProcessLog extends Log {
  level: LogLevel;
}

/**
 * The log of a process: one line for each message, readable in a terminal, JSON (by pino) elsewhere.
 *
 * ```ts
 * const log = processLog();
 * log.level = "debug"; // or over HTTP: PUT /loglevel
 * ```
 */
export function processLog(options: ProcessLogOptions = {}): ProcessLog {
  // Children of pino loggers keep the level they were born with, so the level is ours.
  const state = { level: levelIndex(options.level ?? (options.env ?? process.env)["LOG_LEVEL"] ?? "info") };
  let logger: Log | undefined;
  const log = leveled(() => (logger ??= jsonLogger(options)), state);
  return Object.defineProperty(log, "level", {
    get: () => LOG_LEVELS[state.level],
    set: (level: string) => {
      state.level = levelIndex(level);
    },
  }) as ProcessLog;
}

/** Loading pino takes tens of milliseconds and some MiB, so a process that logs nothing does without. */
function jsonLogger({ clock = realClock(), destination, format, env = process.env }: ProcessLogOptions): Log {
  const { pino } = pinoLogger();
  const isTerminal = !destination && process.stderr.isTTY;
  const plain = () => destination ?? pino.destination({ fd: 2, sync: false });
  const readable = () => {
    const to = destination ?? process.stderr;
    const colored = isTerminal && !env["NO_COLOR"];
    return { write: (line: string) => void to.write(readableLine(line, colored)) };
  };
  return pino(
    {
      level: "trace",
      base: undefined,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    (format ?? (isTerminal ? "text" : "json")) === "text" ? readable() : plain(),
  );
}

function leveled(logger: () => Log, state: { level: number }): Log {
  const at = (level: "debug" | "info" | "warn" | "error") => {
    const index = levelIndex(level);
    return (fields: object, message: string) => {
      if (index >= state.level) logger()[level](fields, message);
    };
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => {
      let child: Log | undefined;
      return leveled(() => (child ??= logger().child(fields)), state);
    },
  };
}

function levelIndex(level: string): number {
  const index = LOG_LEVELS.indexOf(level.toLowerCase() as LogLevel);
  if (index < 0) throw new TypeError(`there is no log level ${level}: use one of ${LOG_LEVELS.join(", ")}`);
  return index;
}
