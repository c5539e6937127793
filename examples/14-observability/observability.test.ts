import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./observability.scenario.ts";

test("an operator reports its own state", () => onEmbedded(scenario));
