import { lowersLimits, reloads } from "./parameter-stories.ts";
import { withPostgres } from "./postgres.ts";

withPostgres("limits are lowered and raised while commits wait for the standby, and none hangs", lowersLimits);
withPostgres("a reload brings what it can, and names what needs a restart or is not accepted", reloads);
