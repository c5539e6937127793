import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Mutant, mutants } from "./mutants.ts";

/** What became of a mutant: the script that noticed it, or nothing. */
export interface Caught {
  readonly mutant: Mutant;
  readonly by: string | undefined;
}

/** Runs the suite on every mutant of the server, some at a time. */
export async function huntMutants(onCaught: (caught: Caught) => void): Promise<void> {
  const queue = mutants.values();
  const hunter = async () => {
    for (const mutant of queue) onCaught({ mutant, by: await hunt(mutant) });
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, hunter));
}

function hunt(mutant: Mutant): Promise<string | undefined> {
  const worker = new Worker(new URL("./mutant-worker.ts", import.meta.url), { workerData: mutant });
  return new Promise((resolve, reject) => {
    worker.on("message", (by: string | undefined) => {
      resolve(by);
      void worker.terminate();
    });
    // A server that breaks altogether has been noticed as well.
    worker.on("error", (error) => {
      if (/the mutant changes|never loaded/.test(error.message)) reject(error);
      else resolve(`it broke: ${error.message}`);
    });
  });
}
