import { onEmbedded } from "@konverge/operator-suite";
import { issued } from "./certificate-scenarios.ts";
import { aDatabaseRunsByALesserDefinition } from "./lesser-definition.ts";
import {
  application,
  backups,
  badInput,
  encrypted,
  ends,
  hibernates,
  lives,
  mysqlLimits,
  renewed,
  resized,
  unheard,
  upgraded,
} from "./scenarios.ts";

onEmbedded("a server with its volume, Service, settings and password", lives);
onEmbedded("the server stops before the object goes; volumes go or stay as asked", ends);
onEmbedded("another version rolls out with the data and the password it had", upgraded);
onEmbedded("volumes grow and never shrink", resized);
onEmbedded("backups are taken on their schedule", backups);
onEmbedded("a hibernated database keeps its data", hibernates);
onEmbedded("bad input is refused or reported, and works when it is fixed", badInput);
onEmbedded("an application has a dedicated database, role and Secret", application);
onEmbedded("servers have certificates of a dedicated authority, or the user's", encrypted);
onEmbedded("certificates are renewed in time, without a restart", renewed);
onEmbedded("the API server refuses what MySQL does not have, with the field and the reason", mysqlLimits);
onEmbedded("servers with standbys come up also where nothing really runs", unheard);
onEmbedded("a database runs also where the definition of a tutorial is installed", aDatabaseRunsByALesserDefinition);
onEmbedded("cert-manager issues the certificate of servers, if an issuer is named", issued);
