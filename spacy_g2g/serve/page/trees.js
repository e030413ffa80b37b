// Heads of words, which count from 0: a root is its own head, and a missing head is null.

/** Whether heads have no cycle and one root at most. */
export function isTree(heads) {
  if (heads.filter((head, i) => head === i).length > 1) return false;
  return heads.every((_, word) => {
    for (let steps = 0; heads[word] !== null && heads[word] !== word; word = heads[word]) {
      if (++steps > heads.length) return false;
    }
    return true;
  });
}

/** Whether something is a tree of a sentence, as this page makes them. What a browser keeps may be anything. */
export function fits({words}, state) {
  const isWord = i => Number.isInteger(i) && i >= 0 && i < words.length;
  const {heads, deps, upos, lemmas, set} = state ?? {};
  return words.length > 0 && [heads, deps, upos, lemmas].every(cells => cells?.length === words.length)
    && [deps, upos, lemmas].every(cells => cells.every?.(cell => typeof cell === "string" && !/[\t\n]/.test(cell)))
    && Array.isArray(heads) && heads.every(head => head === null || isWord(head)) && isTree(heads)
    && Array.isArray(set) && set.every(isWord);
}

/** Give a word another head. What it can't be together with makes way: the old root, or a word between the two,
 *  one that is not set if there is any.
 *  Returns the heads, which are a tree if they were one before, and the word that made way. */
export function attach(heads, word, head, set) {
  const found = [...heads], between = [];
  let freed = -1;
  if (head === word) {
    freed = heads.findIndex((other, i) => other === i && i !== word);
    if (freed >= 0) found[freed] = word;
  }
  for (let above = head; above !== null && above !== word; above = heads[above]) {
    between.unshift(above);
    if (heads[above] === word) {
      freed = between.find(i => !set.includes(i)) ?? above;
      found[freed] = heads[word] === word ? freed : heads[word];
    }
    if (heads[above] === above) break;
  }
  found[word] = head;
  return {heads: found, freed};
}

/** Take over into a tree what a correction has changed in the parse.
 *  state: The tree with the correction.
 *  before, after: The parse with the words set before, and with those set now; null if there is none.
 *  open: Words that take the parse in any case.
 *  A word on which tree and parse differed before stays as it is, and so do words that are set. */
export function follow(state, before, after, open) {
  if (!after) return state;
  const same = (one, other, i) => one.heads[i] === other.heads[i] && one.deps[i] === other.deps[i];
  const heads = [...state.heads], deps = [...state.deps];
  const take = i => { if (after.heads[i] !== null) [heads[i], deps[i]] = [after.heads[i], after.deps[i]]; };
  heads.forEach((head, i) => {
    const follows = !state.set.includes(i) && (head === null || (before && same(state, before, i)));
    if (follows || open.includes(i)) take(i);
  });
  if (isTree(heads)) return {...state, heads, deps};
  // Labels alone fit any tree.
  const labels = state.deps.map((dep, i) => open.includes(i) && after.heads[i] === state.heads[i] ? after.deps[i] : dep);
  return {...state, deps: labels};
}
