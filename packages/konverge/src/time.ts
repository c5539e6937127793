/**
 * Clocks, durations and timestamps. Code that takes its time from a {@link Clock} can be tested on virtual time.
 */
export {
  ageSince,
  type Clock,
  DurationError,
  durationMs,
  formatDuration,
  formatDurationMs,
  humanDuration,
  lastDue,
  microTimestamp,
  parseDuration,
  parseSchedule,
  type Random,
  realClock,
  type Schedule,
  type SecretSource,
  seededRandom,
  sleep,
  type Timer,
  type TimerOptions,
  timestamp,
  VirtualClock,
  type VirtualClockOptions,
} from "@konverge/core";
