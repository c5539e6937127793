import { databaseOperator } from "@konverge/database-operator";
import type { Scenario } from "@konverge/operator-suite";
import { PretendServers } from "./pretend-servers.ts";
import { isReady, NAME, replicated } from "./replica-scenarios.ts";

/** A single server with nothing but defaults: that its volume is nearly full is exported, as the alert needs it. */
export const reportsFullVolume: Scenario = async (stage) => {
  const servers = new PretendServers(stage);
  servers.play("postgres");
  const operator = await stage.start(databaseOperator);
  await stage.apply(replicated({ instances: 1 }));
  await isReady(stage);
  servers.used = Math.ceil(servers.size * 0.99);
  const exported = new RegExp(`^database_volume_used_percent\\{.*name="${NAME}".*\\} 99`, "m");
  await stage.until("its usage is exported", async () => exported.test(await operator.metrics()));
};
