/** What keeps something from running, in a word and in a sentence. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}
