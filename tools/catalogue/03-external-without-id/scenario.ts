import assert from "node:assert/strict";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** A system outside the cluster. It outlives the operator's processes. */
export class Cloud {
  readonly databases = new Map<string, string>();

  /** Creates a database and returns its id; with a token that it knows already, the one that has it. */
  create(token?: string): string {
    const known = [...this.databases].find(([, has]) => token !== undefined && has === token);
    if (known) return known[0];
    const id = `db-${this.databases.size + 1}`;
    this.databases.set(id, token ?? "");
    return id;
  }
}

/** Each App has one database in the cloud. */
export const database =
  (program: (cloud: Cloud) => Program): Scenario =>
  async (environment) => {
    const cloud = new Cloud();
    await environment.start(program(cloud));
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await environment.settled();
    assert.equal(cloud.databases.size, 1, `there are ${cloud.databases.size} databases for one App`);
  };
