import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./webhooks.scenario.ts";

test("writes are completed and judged before they are stored", () => onEmbedded(scenario));
