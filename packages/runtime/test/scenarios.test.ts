import { test } from "node:test";
import "./adoption.ts";
import "./children.ts";
import "./cleanup.ts";
import "./daemons.ts";
import "./narrower-definition.ts";
import "./progress.ts";
import "./reads.ts";
import "./recording.ts";
import "./removal.ts";
import "./repairs.ts";
import "./rhythms.ts";
import "./status.ts";
import "./takeover.ts";
import "./triggers.ts";
import { scenarios } from "./scenario.ts";
import { stage } from "./stage.ts";

for (const { name, play } of scenarios) test(name, async () => play(await stage()));
