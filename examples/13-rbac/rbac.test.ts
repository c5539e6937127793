import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./rbac.scenario.ts";

test("an operator works with exactly the permissions that follow from its definition", () => onEmbedded(scenario));
