import { cascades } from "./cascades.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(cascades);
