/** What keeps something from running, in a word and in a sentence. */
export interface WorkloadProblem {
  readonly reason: string;
  readonly message: string;
}
