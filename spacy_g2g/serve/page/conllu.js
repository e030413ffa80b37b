// CoNLL-U: the text of a file as sentences, and as text again. The service has checked the file before.

/** Feature of MISC of each word whose head and label were set by hand. */
export const MARK = "Corrected=Yes";
const COLUMNS = {forms: 1, lemmas: 2, upos: 3, heads: 6, deps: 7, misc: 9};
/** Columns that can be corrected, beside the mark. */
const CORRECTED = ["lemmas", "upos", "heads", "deps"];

/** Cut a line before its end. */
function cutEnd(line) {
  let n = line.length;
  while (n && (line[n - 1] === "\n" || line[n - 1] === "\r")) n--;
  return [line.slice(0, n), line.slice(n)];
}

/** Cut a text into sentences. Their texts, joined, are the text again. */
export function readSentences(text) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [], sentences = [];
  let block = [], hasRows = false, ended = false;
  const end = () => { if (hasRows) sentences.push(readSentence(block)); };
  for (const line of lines) {
    const blank = !cutEnd(line)[0];
    if (ended && !blank) {
      end();
      [block, hasRows, ended] = [[], false, false];
    }
    block.push(line);
    hasRows ||= !blank;
    ended = hasRows && blank;
  }
  end();
  return sentences;
}

/** Read a sentence: its lines, the lines of its words, its multiword tokens, and the tree that it has. */
function readSentence(lines) {
  const rows = [], ranges = [], cells = lines.map(line => cutEnd(line)[0].split("\t"));
  cells.forEach(([id, form], line) => {
    const [, start, last] = /^\ufeff?(\d+)(?:-(\d+))?$/.exec(id) ?? [];
    if (last) ranges.push({first: start - 1, last: last - 1, form});
    else if (start) rows.push(line);
  });
  const column = name => rows.map(row => cells[row][COLUMNS[name]]);
  const comment = name => lines.flatMap(line => {
    const at = line.indexOf("=");
    return line[0] === "#" && line.slice(1, Math.max(at, 0)).trim() === name ? [line.slice(at + 1).trim()] : [];
  })[0] ?? "";
  const state = {lemmas: column("lemmas"), upos: column("upos"), deps: column("deps"),
    heads: column("heads").map((head, i) => head === "_" ? null : +head ? head - 1 : i),
    set: column("misc").flatMap((misc, i) => misc?.split("|").includes(MARK) ? [i] : [])};
  const words = column("forms");
  return {lines, rows, ranges, words, id: comment("sent_id"), text: comment("text") || words.join(" "), first: state};
}

/** Write a sentence with what was corrected. All else stays as it was, byte for byte.
 *  onlySet: Leave out the heads and labels of words that are not set. */
export function writeSentence(sentence, state, onlySet = false) {
  const {first, rows} = sentence, lines = [...sentence.lines];
  rows.forEach((row, i) => {
    const [text, end] = cutEnd(lines[row]), cells = text.split("\t");
    for (const name of CORRECTED) if (state[name][i] !== first[name][i]) cells[COLUMNS[name]] = cell(name, state, i);
    const isSet = state.set.includes(i);
    if (onlySet && !isSet) cells[COLUMNS.heads] = cells[COLUMNS.deps] = "_";
    if (isSet !== first.set.includes(i)) {
      const others = cells[COLUMNS.misc].split("|").filter(feature => feature !== "_" && feature !== MARK);
      cells[COLUMNS.misc] = [...others, ...isSet ? [MARK] : []].join("|") || "_";
    }
    lines[row] = cells.join("\t") + end;
  });
  return lines.join("");
}

/** Return a cell of a word. A root is its own head, and a missing head is null. */
function cell(name, state, i) {
  const value = state[name][i];
  if (name !== "heads") return value;
  return value === null ? "_" : value === i ? "0" : String(value + 1);
}
