import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { reaches } from "../../lib/steps.ts";

/** A cluster of three members runs. */
export const running =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 3, image: "example/etcd:1" }));
    await reaches(environment, "a", "3 of 3");
  };
