import { sets } from "./sets.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(sets);
