// Keep something outside the cluster as an object wants it: observe, create, update, delete.
import { controller, defineKind, externalResource, type ObjectOf, z } from "konverge";

export const Phone = defineKind({
  group: "examples.konverge.dev",
  kind: "Phone",
  versions: {
    v1: {
      spec: z.object({ forwardTo: z.string() }),
      status: z.object({ number: z.string().optional() }),
    },
  },
});
type Phone = ObjectOf<typeof Phone>;

/** Stands for a telephone company and its API. */
export interface Company {
  read(number: string): Promise<string | undefined>;
  write(number: string, forwardTo: string): Promise<void>;
  cancel(number: string): Promise<void>;
}

export function phones(company: Company) {
  const line = externalResource<Phone, string, string>(Phone, {
    name: "line",
    observe: (number) => company.read(number),
    create: async (number, forwardTo) => {
      await company.write(number, forwardTo);
      return undefined;
    },
    matches: (observed, desired) => observed === desired,
    update: (number, forwardTo) => company.write(number, forwardTo),
    delete: (number) => company.cancel(number),
  });
  return controller(Phone, {
    // No event reports a change at the company: read it periodically.
    resync: 1_000,
    async reconcile(phone, context) {
      await line.converge(phone, phone.spec.forwardTo, context);
      return { status: { number: line.idOf(phone) } };
    },
    cleanup: (phone, context) => line.remove(phone, context),
  });
}
