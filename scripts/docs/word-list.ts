/** An expression to replace: what to search for, and what to write instead. */
export interface Replacement {
  readonly pattern: RegExp;
  readonly instead: string;
}

const replace = (pattern: string, instead: string): Replacement => ({
  pattern: new RegExp(`\\b(?:${pattern})\\b`, "gi"),
  instead,
});

/** Expressions that sound odd, or that hide a term readers search for. */
export const WORDS: readonly Replacement[] = [
  replace("shall|what is asked for|wish(?:es|ed|ing)?", "desired state, requested, spec"),
  replace(
    "(?:is|are|was|were|be|been|being|gets?) told|(?:tell|tells|told|telling) of|says? of itself",
    "reports, returns, logs",
  ),
  replace("complain(?:s|ed|ing|ts?)?", "message, error, warning"),
  replace("somebody|nobody|whoever|whomever|those who look", "the user, another client, the caller, watchers"),
  replace("(?:one|another|each|every|next|last|second|a) looks?|looks? again", "reconcile"),
  replace("com(?:es?|ing) to rest|came to rest|at rest|(?:is|are) quiet|settled", "idle, converged"),
  replace("mend(?:s|ed|ing)?", "repair, fix"),
  replace("anew|afresh|once more", "again, recreate, retry"),
  replace("(?:take|takes|took|taken|taking) (?:it |them |nothing )?over", "adopts, owns, acquires"),
  replace("let(?:s|ting)? go|(?:give|gives|gave|given|giving) up", "release, time out, abandon"),
  replace("(?:leave|leaves|left|leaving) (?:\\S+ ){0,3}alone", "ignore, leave unchanged"),
  replace("rights", "permissions, RBAC rules"),
  replace(
    "(?:the|its|their|whose|other) wants|fates?|the ground|grounds|stages?",
    "requirements, outcome, environment, test environment",
  ),
  replace("(?:in )?doubts?(?:ed|ful)?", "unknown outcome"),
  replace("(?:put|puts|putting) off|graves?", "deferred, tombstones"),
  replace("amounts(?! to\\b)|so many|so manieth|manieth", "quantities, N, every Nth"),
  replace("for ever", "forever"),
  replace("that (?:is|are) free without it", "default: a free port"),
  replace("comes? and goe?s?|came and went", "is repeatedly created and deleted"),
  replace("(?:of|on) (?:its|their|our|one's|his) own", "separate, dedicated, its own …"),
  replace("yardsticks?|referees?", "reference, real Kubernetes"),
  replace("proofs?", "survival test"),
  replace("for want of|to be had|those of whom|of whom", "for lack of, available"),
];

/** British spellings, where documentation and messages use American ones. */
export const SPELLINGS: readonly Replacement[] = [
  replace("(?:behavi|col|fav|hon|lab|neighb|harb)our\\w*", "…or"),
  replace("licences?|defences?|offences?", "…se"),
  replace("(?:cent|met|lit)res?", "…er"),
  replace(
    "catalogues?|dialogues?|programmes?|artefacts?|judgements?|learnt|spelt|grey|whilst|towards",
    "American spelling",
  ),
  replace("(?:label|travel|model|signal|level)l(?:ed|ing|er)", "single l"),
  replace("(?:analy)s(?:e|es|ed|ing)", "…ze"),
  replace(
    "(?:organ|normal|serial|recogn|initial|stabil|author|optim|minim|maxim|summar|synchron|real|final|special|util|custom|priorit|token|canonical|general|material|local)is(?:e|es|ed|ing|er|ers|ation|ations)",
    "…ize",
  ),
];

/** What comments and test titles must not say either. */
export const COMMENT_WORDS: readonly Replacement[] = [
  replace("tells?|told|telling", "report, return, log; distinguish"),
  replace(
    "insides|cramped|denominat(?:e|es|ed|ing)|doom(?:s|ed)?|fortunes?|tak(?:e|es|en|ing) stock",
    "the domain noun",
  ),
  replace(
    "(?:is|are|was|were|be|been) gone|goes? along|next to go|what goes",
    "deleted, garbage-collected, next deletion",
  ),
  replace("seen", "observed, known"),
  replace("(?:one|a|the|this|that|each|every|next|last) pass", "reconcile"),
  replace("last words|has room for|have room for", "final output, declares the field"),
  replace("by (?:it|them)sel(?:f|ves)", "automatically, without help"),
  replace("left over|leftovers?", "remaining"),
];

/** A word that names of functions, variables, types and files must not contain, and what says it better. */
export const NAME_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "wish wishes wished": "requested, desired",
    "doubt doubts doubtful": "unknown outcome",
    "doom doomed": "to be deleted",
    "fortune fortunes": "history",
    "denominate denominated denominates": "the domain verb",
    insides: "internals",
    cramped: "insufficient capacity",
    "tell tells told telling": "report, describe, return",
    "look looks looked looking": "reconcile, read, observe",
    "seen saw": "observed",
    "grave graves": "tombstones",
    "fate fates": "outcome",
    "mend mends mended mending": "repair",
    "gone goes": "deleted",
    "somebody nobody whoever": "the domain noun",
    "anew afresh": "again",
    manieth: "nth",
    drew: "randomized",
    "trouble troubles troubled": "problem, error",
    "oddity oddities": "the domain noun",
  }).flatMap(([words, instead]) => words.split(" ").map((word) => [word, instead] as const)),
);
