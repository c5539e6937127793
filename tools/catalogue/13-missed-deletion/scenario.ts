import { ConfigMap } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { removeApp } from "../lib/steps.ts";

/** A ConfigMap lists all Apps. */
export const inventory =
  (program: Program): Scenario =>
  async (environment) => {
    const lists = (names: string) =>
      environment.until(`the inventory is ${names}`, async () => {
        return (await environment.find(ConfigMap, "inventory"))?.data?.["apps"] === names;
      });
    await environment.start(program);
    await environment.apply(app("a"));
    await environment.apply(app("b"));
    await lists("a b");
    await removeApp(environment, "b");
    await lists("a");
  };
