import { UsageError } from "./usage-error.ts";

/** Starts what listens on a port. If another process has the port, the error names the option that sets it. */
export async function listening<T>(start: () => Promise<T>, port: number, flags: string): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new UsageError(`port ${port} is in use by another process: choose another with ${flags}, or 0 for any`, {
      cause: error,
    });
  }
}
