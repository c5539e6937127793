import { attachmentBehaviors } from "./attachments.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(attachmentBehaviors);
