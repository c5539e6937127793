// Regenerates the tutorial's manifests, after a change of the definitions: `node tools/checklist/write-tutorial.ts`.
import { writeFileSync } from "node:fs";
import { tutorialFiles } from "./tutorial-files.ts";

for (const { path, text } of tutorialFiles()) writeFileSync(path, text);
