/** Reconciles written down, and put to other code later. */
export {
  type ReconcileIntent,
  type ReplayDifference,
  recordedReconcileText,
  replayDifferenceText,
} from "./differences.ts";
export { readRecording } from "./read-recording.ts";
export type { RecordedWrite } from "./recorded-world.ts";
export { ReconcileRecorder, type ReconcileRecorderOptions } from "./recorder.ts";
export type {
  RecordedAnswer,
  RecordedCall,
  RecordedChild,
  RecordedError,
  RecordedKind,
  RecordedQuery,
  RecordedReconcile,
  RecordedResult,
  RecordedStep,
} from "./recording.ts";
export type { RedactedFields } from "./redaction.ts";
export { type ReplayedReconcile, replayRecording } from "./replay.ts";
