/** Reconciles written down, and put to other code later. */
export { type Difference, differenceText, type Intent, reconcileText } from "./differences.ts";
export { readRecording } from "./read-recording.ts";
export type { OwnWrite } from "./recorded-world.ts";
export { Recorder, type RecorderOptions } from "./recorder.ts";
export type {
  RecordedAnswer,
  RecordedCall,
  RecordedError,
  RecordedKind,
  RecordedQuery,
  RecordedReconcile,
  RecordedStep,
  WantedChild,
  Wants,
} from "./recording.ts";
export type { SecretFields } from "./redaction.ts";
export { type ReplayedReconcile, replay } from "./replay.ts";
