/** Counts work, as a process does. */
export interface Effort {
  spend(steps: number): Promise<void> | undefined;
}
