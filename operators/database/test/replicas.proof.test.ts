import { databaseOperator } from "@konverge/database-operator";
import { survivesCrashes } from "@konverge/operator-suite";
import { failsOverOnce, rotates, switchesOverOnce } from "./replica-scenarios.ts";

survivesCrashes("another takes over, whenever the operator dies", databaseOperator, failsOverOnce, { mask: timeless });
survivesCrashes("the primary hands over, whenever the operator dies", databaseOperator, switchesOverOnce, {
  mask: timeless,
});
survivesCrashes("a password is rotated, whenever the operator dies", databaseOperator, rotates, { mask: timeless });

/** Without the moment at which a change began, which is written as a number. */
function timeless<T extends object>(object: T): T {
  return JSON.parse(JSON.stringify(object).replaceAll(/(\\?"since\\?":)\d+/g, "$10")) as T;
}
