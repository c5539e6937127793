import { Service } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { service } from "./scenario.ts";

/** Only the fields that it sets are compared. */
export const scenario = service(
  reconciler({
    watches: [Service],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const found = cached(Service).get(name);
      const spec = { selector: { app: name }, ports: [{ name: "http", port: 80 }] };
      const metadata = { name, namespace, labels: { app: name }, ...ownedBy(app) };
      if (!found) await tolerant(client.create(Service, { metadata, spec } as unknown as Service));
      else if (!isAsDesired(found)) {
        await client.update(Service, { ...found, spec: { ...found.spec, ...spec } } as Service);
      }
      await setStatus(context, app, { phase: "Ready" });
      return 30_000;
    },
  }),
);

function isAsDesired({ metadata, spec }: Service): boolean {
  const [port, ...others] = spec?.ports ?? [];
  return others.length === 0 && port?.name === "http" && port.port === 80 && spec?.selector?.["app"] === metadata.name;
}
