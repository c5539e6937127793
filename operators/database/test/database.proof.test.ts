import { databaseOperator } from "@konverge/database-operator";
import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import { backups, badInput, ends, lives, resized } from "./scenarios.ts";

survivesCrashes("a database is made, whenever the operator dies", databaseOperator, lives);
exactRole(databaseOperator, [lives, ends, resized, backups, badInput]);
