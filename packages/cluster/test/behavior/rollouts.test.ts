import { rollouts } from "./rollouts.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(rollouts);
