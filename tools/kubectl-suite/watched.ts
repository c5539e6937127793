import { setTimeout as sleep } from "node:timers/promises";
import type { Step } from "./story.ts";
import { words } from "./story.ts";

/** A watch that runs while other commands change what it shows; it ends when it has printed `lines` lines in total. */
export function watched(line: string, lines: number, changes: readonly (readonly string[])[]): Step {
  return {
    name: `kubectl ${line}, while others ${changes.map(([verb]) => verb).join(", ")}`,
    async run(session) {
      let printed = 0;
      const watch = session.kubectl([...words(line), "--request-timeout=20s"], {
        enough(stdout) {
          printed = stdout.split("\n").length - 1;
          return printed >= lines;
        },
      });
      // kubectl says nothing when its watch stands and there is nothing to show.
      await sleep(1500);
      for (const args of changes) await session.kubectl(args);
      return watch;
    },
  };
}
