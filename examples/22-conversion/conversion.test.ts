import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./conversion.scenario.ts";

test("objects of two versions are one", () => onEmbedded(scenario));
