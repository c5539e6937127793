import { autoscaling } from "./autoscaling.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(autoscaling, { nodes: true, metrics: true });
