import type { Clock } from "@konverge/core";
import type { ManagerState } from "@konverge/runtime";

/** Several managers as one, for probes and metrics. */
export function together(managers: readonly ManagerState[], clock: Clock): ManagerState {
  // One that stands by watches nothing yet, and needs not.
  const acting = () => managers.filter(({ standby }) => !standby);
  return {
    clock,
    get working() {
      return acting().every(({ working }) => working);
    },
    get standby() {
      return managers.length > 0 && acting().length === 0;
    },
    get leases() {
      return managers.flatMap(({ leases }) => leases);
    },
    controllers: () => managers.flatMap((one) => [...one.controllers()]),
    watches: () => acting().flatMap((one) => [...one.watches()]),
  };
}
