import { lateClasses } from "./late-classes.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(lateClasses);
