import { jobs } from "./jobs.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(jobs);
