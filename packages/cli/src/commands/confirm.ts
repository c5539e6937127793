import { createInterface } from "node:readline/promises";

/** Asks on the terminal. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(question)).trim() === "yes";
  } finally {
    terminal.close();
  }
}
