import type { Client } from "@konverge/client";
import type { Scenario, TestEnvironment } from "../../environment/test-environment.ts";

/** Thrown into a scenario that is no longer to be played. */
class Abandoned extends Error {}

/**
 * Plays a scenario until it ends or `abandon` is called: then its next call of the test environment throws. What it
 * was waiting for is waited for no longer.
 */
export class AbandonablePlay {
  #abandoned = false;

  get abandoned(): boolean {
    return this.#abandoned;
  }

  abandon(): void {
    this.#abandoned = true;
  }

  /** Resolves when the scenario has ended, or has noticed that it is abandoned. Failures before that are its own. */
  async play(scenario: Scenario, environment: TestEnvironment): Promise<void> {
    try {
      await scenario(this.#watched(environment));
    } catch (error) {
      // Once it is abandoned, whatever a scenario says about what it finds does not count.
      if (!this.#abandoned) throw error;
    }
  }

  #check(): void {
    if (this.#abandoned) throw new Abandoned("the scenario is not played on");
  }

  #watched(environment: TestEnvironment): TestEnvironment {
    const client = this.#guarded<Client>(environment.client);
    const guarded = this.#guarded<TestEnvironment>(environment, (name) => {
      if (name === "client") return client;
      if (name !== "until") return undefined;
      return (what: string, condition: () => Promise<boolean> | boolean, timeout?: number) =>
        environment.until(
          what,
          () => {
            this.#check();
            return condition();
          },
          timeout,
        );
    });
    return guarded;
  }

  /** The same object, of which every method throws once the play is abandoned. */
  #guarded<T extends object>(target: T, instead: (name: string | symbol) => unknown = () => undefined): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = instead(name) ?? Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          this.#check();
          return value.apply(target, args);
        };
      },
    });
  }
}
