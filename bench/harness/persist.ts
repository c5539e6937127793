import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists, isNotFound } from "@konverge/core";

const ATTEMPTS = 10;

/**
 * Makes a request until it is answered: on a busy machine a connection may take longer than clients wait. What has been
 * created or deleted by an attempt whose answer was lost is done.
 */
export async function persist(request: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await request();
      return;
    } catch (error) {
      if (attempt > 1 && (isAlreadyExists(error) || isNotFound(error))) return;
      if (attempt === ATTEMPTS) throw error;
      await sleep(200 * attempt);
    }
  }
}
