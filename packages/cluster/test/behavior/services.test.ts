import { services } from "./services.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(services);
