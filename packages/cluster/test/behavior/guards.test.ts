import { guards } from "./guards.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(guards);
