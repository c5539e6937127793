import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./daemon.scenario.ts";

test("a daemon follows its object, and ends with it", () => onEmbedded(scenario));
