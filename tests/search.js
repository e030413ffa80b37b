// Print the pages that the search of a site finds for each phrase, best first: node search.js SITE < PHRASES.json
// The code is that of the site: its scorer, word stemmer, ranking and index.
const fs = require("fs");
const vm = require("vm");

const folder = `${process.argv[2]}/_static`;
const read = (path) => fs.readFileSync(path, "utf8");
const page = { removeChild() {}, lastChild: null };
const context = vm.createContext({
  document: { getElementById: () => page, addEventListener() {}, readyState: "loading" },
  addEventListener() {},
  localStorage: { setItem() {} },
  SPHINX_HIGHLIGHT_ENABLED: false,
  _ready() {},
  _: (text) => text,
});
context.window = context;
const run = (source) => vm.runInContext(source, context);
// searchtools.js is below the scorer that the site sets.
for (const name of ["language_data", "searchtools"]) run(read(`${folder}/${name}.js`));
run(read(`${process.argv[2]}/searchindex.js`));
const find = run("(phrase) => Search._performSearch(...Search._parseQuery(phrase)).reverse()");
const phrases = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(phrases.map((phrase) => find(phrase).map((result) => result[0]))));
