import type { LabelSelector } from "@konverge/core";
import type { Deployment } from "@konverge/kinds";

type StoredSelector = Deployment["spec"]["selector"];

/** A selector from a stored object: the server has checked its operators. */
export const selectorOf = (selector: StoredSelector): LabelSelector => selector as LabelSelector;
