/** Where an expression of the list stays. Each needs a reason; one that no longer matches is reported. */
export interface WordException {
  /** The file, from the root of the repository. */
  readonly file: string;
  /** A part of the line, as it stands in the file, that contains the expression. */
  readonly text: string;
  readonly reason: string;
}

export const EXCEPTIONS: readonly WordException[] = [
  {
    file: "packages/cluster/src/userland/root-files.ts",
    text: "nobody:x:65534:65534:nobody",
    reason: "the user of every Linux with the id 65534",
  },
  {
    file: "packages/core/src/readiness-rules.ts",
    text: "Labelled: …",
    reason: "the message of kstatus, word for word",
  },
  {
    file: "tools/checklist/deployed.ts",
    text: "tell: () => {}",
    reason: "an option of `deploy` in @konverge/cli",
  },
];
