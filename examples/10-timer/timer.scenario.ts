import type { Place } from "../test/place.ts";
import { Alarm, alarms } from "./timer.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Alarm);
  await run(alarms);
  await client.create(Alarm.new({ metadata: { name: "a", namespace }, spec: { everySeconds: 1 } }));
  await until("it has rung three times", async () => {
    return ((await client.get(Alarm, `${namespace}/a`)).status?.rings ?? 0) >= 3;
  });
}
