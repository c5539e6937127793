import { onReal } from "@konverge/operator-suite";
import { aDatabaseRunsByALesserDefinition } from "./lesser-definition.ts";
import { badInput, ends, hibernates, lives, mysqlLimits, upgraded } from "./scenarios.ts";

onReal({
  "a server with its volume, Service, settings and password": lives,
  "the server stops before the object goes; volumes go or stay as asked": ends,
  "another version rolls out with the data and the password it had": upgraded,
  "a hibernated database keeps its data": hibernates,
  "a database runs also where the definition of a tutorial is installed": aDatabaseRunsByALesserDefinition,
  "the API server refuses what MySQL does not have, with the field and the reason": mysqlLimits,
  "bad input is refused or reported, and works when it is fixed": badInput,
});
