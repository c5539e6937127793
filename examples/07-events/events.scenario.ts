import { Event } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Parcel, parcels } from "./events.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Parcel);
  await run(parcels);
  await client.create(Parcel.new({ metadata: { name: "p", namespace }, spec: { to: "Rome" } }));
  const reported = async (type: string, message: string) => {
    const { items } = await client.list(Event, { namespace, fieldSelector: "involvedObject.name=p" });
    return items.some((event) => event.type === type && event.message === message);
  };
  await until("it is said to be sent", () => reported("Normal", "it is on its way to Rome"));
  await client.patch(Parcel, `${namespace}/p`, { merge: { spec: { to: "Oslo" } } });
  await until("it is said to be redirected", () => reported("Warning", "it was on its way to Rome"));
}
