/**
 * Records reconciles in a file ({@link ReconcileRecorder}) and replays them against other code ({@link replayRecording}).
 */
export {
  type ReconcileIntent,
  ReconcileRecorder,
  type ReconcileRecorderOptions,
  type RecordedAnswer,
  type RecordedCall,
  type RecordedChild,
  type RecordedError,
  type RecordedKind,
  type RecordedQuery,
  type RecordedReconcile,
  type RecordedResult,
  type RecordedStep,
  type RecordedWrite,
  type RedactedFields,
  type ReplayDifference,
  type ReplayedReconcile,
  readRecording,
  recordedReconcileText,
  replayDifferenceText,
  replayRecording,
} from "@konverge/runtime";
