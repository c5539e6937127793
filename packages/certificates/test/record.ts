// `node packages/certificates/test/record.ts`: makes all cases, asks Go about them and records what it says.
import { madeCases } from "./cases/all.ts";
import { goMadeCases, opensslMadeCases } from "./cases/made-elsewhere.ts";
import { goMissing, goReferee } from "./go-referee.ts";
import { recordAnswers } from "./recorded-answers.ts";

const missing = goMissing();
if (missing) throw new Error(missing);
using referee = goReferee();
const cases = [...madeCases(), ...goMadeCases(referee.issued()), ...opensslMadeCases()];
const answers = referee.answers(cases);
recordAnswers(
  referee.version,
  cases.map((one, i) => ({ ...one, answer: answers[i]! })),
);
console.log(`${cases.length} cases recorded with ${referee.version}`);
