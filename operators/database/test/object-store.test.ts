import { onEmbedded } from "@konverge/operator-suite";
import { inObjectStore, movesToStore, storeBadInput } from "./object-store-scenarios.ts";

onEmbedded("backups and WAL are in an object store, and servers mount no storage for them", inObjectStore);
onEmbedded("a database moves to an object store, and its backups there outlive it", movesToStore);
onEmbedded("contradictory or incomplete object stores are refused", storeBadInput);
