import { databaseOperator } from "@konverge/database-operator";
import { survivesCrashesAndErrors } from "@konverge/operator-suite";
import { adoptsVolumesOnce } from "./adoption-scenarios.ts";
import { restartsOnce } from "./day-two-scenarios.ts";
import { fencesItselfOnce } from "./fence-scenarios.ts";
import { promotesOnce } from "./replica-cluster-scenarios.ts";
import { failsOverOnce, rotates, switchesOverOnce } from "./replica-scenarios.ts";
import { backsUpAfterGap } from "./window-scenarios.ts";

survivesCrashesAndErrors("a standby is promoted, whatever fails", databaseOperator, failsOverOnce, { mask: timeless });
survivesCrashesAndErrors(
  "a primary without contact fences itself, and a standby is promoted, whatever fails",
  databaseOperator,
  fencesItselfOnce,
  { mask: timeless },
);
survivesCrashesAndErrors("the primary hands over, whatever fails", databaseOperator, switchesOverOnce, {
  mask: timeless,
});
survivesCrashesAndErrors("servers restart for new parameters, whatever fails", databaseOperator, restartsOnce, {
  mask: timeless,
});
survivesCrashesAndErrors(
  "volumes of an earlier Database are adopted, whatever fails",
  databaseOperator,
  adoptsVolumesOnce,
  {
    mask: timeless,
  },
);
survivesCrashesAndErrors(
  "missing WAL is reported, and a backup follows, whatever fails",
  databaseOperator,
  backsUpAfterGap,
  {
    mask: timeless,
  },
);
survivesCrashesAndErrors(
  "a Database that follows another one is promoted, whatever fails",
  databaseOperator,
  promotesOnce,
  {
    mask: timeless,
  },
);
survivesCrashesAndErrors("a password is rotated, whatever fails", databaseOperator, rotates, { mask: timeless });

/** Without the moment at which a change began, which is written as a number. */
function timeless<T extends object>(object: T): T {
  return JSON.parse(JSON.stringify(object).replaceAll(/(\\?"since\\?":)\d+/g, "$10")) as T;
}
