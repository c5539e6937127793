import { test } from "node:test";

/** Adds the next step of a way: a test that is not run if one before it failed, and then counts as failed too. */
export type AddStep = (title: string, run: () => Promise<void>, skip?: string | false) => void;

/** Tests of which each builds on those before. */
export function orderedTests(): AddStep {
  let failed: string | undefined;
  return (title, run, skip = false) => {
    test(title, { skip }, async () => {
      if (failed !== undefined) throw new Error(`not run, because a step before it failed: ${failed}`);
      try {
        await run();
      } catch (error) {
        failed = title;
        throw error;
      }
    });
  };
}
