import type { Condition } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Errand, errands } from "./errors.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Errand);
  await run(errands);
  const key = `${namespace}/bread`;
  await client.create(Errand.new({ metadata: { name: "bread", namespace }, spec: { shop: "" } }));
  const reason = async () => {
    const { status } = await client.get(Errand, key);
    return (status as { conditions?: Condition[] } | undefined)?.conditions?.find(({ type }) => type === "Degraded")
      ?.reason;
  };
  await until("it says that the spec is wrong", async () => (await reason()) === "NoShop");
  await client.patch(Errand, key, { merge: { spec: { shop: "baker" } } });
  await until("it says that the shop is closed", async () => (await reason()) === "ShopClosed");
  await client.create(ConfigMap, { metadata: { name: "baker", namespace } });
  await until("it is done once the shop is open", async () => (await client.get(Errand, key)).status?.visits === 1);
}
