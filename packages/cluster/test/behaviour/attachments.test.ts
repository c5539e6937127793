import { attachmentBehaviours } from "./attachments.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(attachmentBehaviours);
