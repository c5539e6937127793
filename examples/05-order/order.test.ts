import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./order.scenario.ts";

test("one child waits until another is ready", () => onEmbedded(scenario));
