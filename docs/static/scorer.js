// How the search ranks: titles and index entries first, then text. Names of Python objects count only as whole names,
// so that "ner" does not lead to `add_listener`. Guides come before pages of results, tables of settings and lists of changes.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^docs\/(results\/|code|config)|^[A-Z]+$/.test(page) ? score * 0.4 : score,
  objNameMatch: 11,
  objPartialMatch: -20,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
