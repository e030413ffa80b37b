// What the service says: parses of a sentence, and how they change its tree.
import {follow} from "./trees.js";

/** The pipeline: its name, its labels, and whether it has probabilities and takes arcs as given. */
export let about = {labels: [], has_scores: false};

export async function ask(url, body) {
  const options = body && {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  const reply = await fetch(url, options).catch(() => {
    throw new Error("The service does not answer. Corrections are kept; suggestions come again when it does.");
  });
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found;
}

export async function askAbout() {
  return about = await ask("pipeline");
}

/** Return the parse of a sentence in which some words have the arcs of a tree; one of them may have any label. */
export async function parse(sentence, state, words, unlabeled = -1) {
  const constraints = {heads: {}, deps: {}}, root = about.labels[0];
  for (const word of about.has_scores ? words : []) {
    if (state.heads[word] === null) continue;
    const isRoot = state.heads[word] === word, dep = isRoot && state.deps[word] === "root" ? root : state.deps[word];
    constraints.heads[word] = state.heads[word];
    if (word !== unlabeled && about.labels.includes(dep) && (dep === root) === isRoot) constraints.deps[word] = dep;
  }
  const key = JSON.stringify(constraints);
  sentence.parses ??= new Map();
  if (!sentence.parses.has(key)) {
    const answer = await ask("parse", {rows: sentence.lines.join(""), constraints});
    sentence.parses.set(key, readParse(answer, sentence.words.length));
  }
  return sentence.parses.get(key);
}

function readParse(answer, n) {
  const found = {heads: Array(n).fill(null), deps: Array(n).fill("_"), sure: Array(n).fill(1), arcs: Array(n).fill(1)};
  for (const one of answer.sentences) {
    one.tokens.forEach((token, i) => {
      found.heads[token] = one.heads[i];
      found.deps[token] = one.deps[i] === "ROOT" ? "root" : one.deps[i];
      if (one.labeled) [found.sure[token], found.arcs[token]] = [one.labeled[i], one.arcs[i]];
    });
    found.tree = one.tree;
  }
  return found;
}

/** Parse a sentence with the words that are set, once. Words without a head get one that fits all others. */
export function suggest(sentence) {
  const load = async () => {
    const {state} = sentence, known = state.heads.flatMap((head, i) => head === null ? [] : [i]);
    if (known.length < state.heads.length) {
      const filled = follow(state, null, await parse(sentence, state, known), []);
      if (sentence.state === state) sentence.state = filled;
    }
    let parsed = null, found = null;
    while (parsed !== sentence.state) {  // It may have been corrected or undone meanwhile.
      parsed = sentence.state;
      found = await parse(sentence, parsed, parsed.set);
    }
    sentence.found = found;
  };
  if (sentence.found) return Promise.resolve();
  return sentence.loading ??= load().finally(() => { sentence.loading = null; });
}

/** Return a corrected tree with what the parser makes of it.
 *  state: The tree with the correction.
 *  open: Words that take the parser's arc.
 *  unlabeled: Word that takes the parser's label.
 *  Errors of the service are passed on with the tree as it is. */
export async function reparse(sentence, state, open, unlabeled) {
  try {
    const before = sentence.found;
    sentence.found = await parse(sentence, state, state.set, unlabeled);
    return {state: about.has_scores ? follow(state, before, sentence.found, open) : state};
  } catch (error) {
    sentence.found = null;
    return {state, error};
  }
}

/** Whether the parse has the head and the label that a word has in the tree. */
export const agrees = ({state, found}, i) => found.heads[i] === state.heads[i] && found.deps[i] === state.deps[i];

/** Whether the parser has another arc for a word that is not set, or is less sure of this one than a bound. */
export function isDoubtful(sentence, i, bound) {
  const {state, found} = sentence;
  return Boolean(found) && !state.set.includes(i) && (!agrees(sentence, i) || found.sure[i] < bound);
}

/** How sure the parser is of the arc that a word has in the tree. */
export const sureOf = (sentence, i) => agrees(sentence, i) ? sentence.found.sure[i] : 0;

export const percent = share => `${(100 * share).toFixed(1)} %`;

/** What there is to say of a word's arc, and on a second line of the parser's if that is another one. */
export function titleOf(sentence, i) {
  const {words, state, found} = sentence;
  const arc = ({heads, deps}) => `${heads[i] === null ? "?" : heads[i] === i ? "ROOT" : words[heads[i]]}, ${deps[i]}`;
  const title = `${words[i]} ← ${arc(state)}`;
  if (!found) return title;
  const sure = about.has_scores ? ` (head ${percent(found.arcs[i])}, head and label ${percent(found.sure[i])})` : "";
  return agrees(sentence, i) ? title + sure : `${title}\nparser: ${arc(found)}${sure}`;
}
