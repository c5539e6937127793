import { ConfigMap } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { reaches, removeApp, untilDeleted } from "../lib/steps.ts";

/** A broker, and an App that is registered there. The App is deleted, then the broker. */
export const teardown =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "broker" },
      data: { address: "amqp://broker" },
    });
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await untilDeleted(environment, App, "a");
    await environment.client.delete(ConfigMap, `${environment.namespace}/broker`);
    await untilDeleted(environment, ConfigMap, "broker");
  };
