// The page: a file, the sentence that is shown, and what keys and mouse do to it.
import {readSentences, writeSentence} from "./conllu.js";
import {draw as drawTree, isRightToLeft, listen, make} from "./drawing.js";
import {about, agrees, ask, askAbout, isDoubtful, percent, reparse, suggest, sureOf, titleOf} from "./parses.js";
import * as store from "./store.js";
import {attach, fits} from "./trees.js";

const $ = id => document.getElementById(id);
const TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split(" ");
/** What takes longer than one waits is refused. */
const MAX_SENTENCES = 20000, MAX_WORDS = 1000;
/** Share of the arcs that is marked at first, and on how many of them that is measured. */
const MARKED = 0.15, ENOUGH = 300;

/** The open file: its name, text, key, sentences and their rows in the list, how many words have each label, the number
 *  of the sentence that is shown, and whether the file is kept and the slider was placed for it. */
let file = {name: "", text: "", key: "", sentences: [], rows: [], labels: new Map(), at: 0, isKept: false, isMarked: false};
/** Corrections that can be undone and redone: sentence, tree before, tree after. */
let past = [], future = [];
/** The word that keys act on, and the one that waits for a head. */
let cursor = 0, picked = null;
/** Corrections come one after another. */
let queue = Promise.resolve();
/** Whether something that was corrected is nowhere but on this page. */
let isUnkept = false;
/** Number of the search for the least certain word, which each key and click ends. */
let search = 0;
/** Whether the slider was moved by hand. */
let isMarkFinal = false;

const current = () => file.sentences[file.at];

function report(error) {
  $("error").textContent = error?.message ?? error ?? "";
}

function run(work) {
  queue = queue.then(async () => {
    report("");
    await work();
  }).catch(report);
  return queue;
}

// ---- Files

async function openFile(given) {
  if (!given) return;
  const bytes = await given.arrayBuffer();
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch {
    throw new Error(`${given.name} is not UTF-8. Expected CoNLL-U.`);
  }
  await ask("conllu", {name: given.name, text});
  await openText(given.name, text);
  await keepFile();
}

/** Show a text in CoNLL-U that has been checked, with what is kept of it. */
async function openText(name, text) {
  if (isUnkept && !confirm("What was corrected last could not be kept. Leave it?")) return;
  const key = store.keyOf(name, text), sentences = readSentences(text);
  check(name, sentences);
  const edits = await store.keptEdits(key).catch(() => new Map()), labels = new Map(), list = new DocumentFragment();
  let n_lost = 0;
  for (const [number, state] of edits) {
    if (!(number >= 0 && sentences[number])) continue;
    if (fits(sentences[number], state)) Object.assign(sentences[number], {state, isEdited: true});
    else n_lost++;
  }
  const rows = sentences.map((sentence, number) => {
    sentence.state ??= sentence.first;
    for (const dep of sentence.first.deps) labels.set(dep, (labels.get(dep) ?? 0) + 1);
    const button = make(make(list, "li"), "button", {type: "button"});
    for (const [name, text] of [["b", number + 1], ["i", ""], ["span", sentence.text]]) make(button, name, {}, text);
    button.lastChild.dir = "auto";
    button.addEventListener("click", () => show(number));
    return button;
  });
  file = {name, text, key, sentences, rows, labels, at: 0, isKept: false, isMarked: false};
  [past, future, isUnkept] = [[], [], false];
  sentences.forEach((_, number) => tellProgress(number));
  $("list").replaceChildren(list);
  document.title = `${name} – spacy-g2g`;
  $("typed").open = false;
  $("list").hidden = sentences.length === 1;
  tellKept();
  if (n_lost) report(`${n_lost} of the corrections that this browser keeps for ${name} are damaged, and left out.`);
  const at = edits.get(-1);
  show(Number.isInteger(at) && sentences[at] ? at : 0);
}

/** Throw an error for what is damaged, or too large for the page. */
function check(name, sentences) {
  const found = what => `${name} has ${what}. Expected ${MAX_SENTENCES} sentences at most, of ${MAX_WORDS} words each.`;
  if (!sentences.length || sentences.length > MAX_SENTENCES) throw new Error(found(`${sentences.length} sentences`));
  sentences.forEach(({words, first}, number) => {
    if (words.length > MAX_WORDS) throw new Error(found(`a sentence ${number + 1} of ${words.length} words`));
    if (!fits({words}, first)) throw new Error(`Sentence ${number + 1} of ${name} is not CoNLL-U.`);
  });
}

async function parseText() {
  const {sentences} = await ask("parse", {text: $("text").value, conllu: true});
  if (!sentences.length) throw new Error("The text has no words.");
  await openText("text.conllu", sentences.map(sentence => sentence.conllu).join(""));
}

/** Keep the file, the place in it, and the number and tree of a sentence, so that they are there after a reload. */
async function keepFile(edit) {
  try {
    const {key, name, text} = file, isNew = !file.isKept;
    if (isNew) await store.keepFile({key, name, text});
    file.isKept = true;
    await store.keep(key, -1, file.at);
    if (edit) await store.keep(key, ...edit);
    isUnkept = false;
    tellKept();
    if (isNew) await listKept();
  } catch (error) {
    throw new Error(`This browser keeps nothing here (${error?.message}). Save before you leave the page.`);
  }
}

function tellKept() {
  $("state").textContent = isUnkept ? "not kept" : file.isKept ? "kept" : "";
}

async function listKept() {
  const kept = await store.keptFiles().catch(() => []);
  $("kept").replaceChildren();
  if (!file.isKept) make($("kept"), "option", {value: ""}, file.name || "Files");
  for (const {key, name, time} of kept) {
    const day = new Date(time).toLocaleDateString(undefined, {month: "short", day: "numeric"});
    make($("kept"), "option", {value: key}, `${name}, ${day}`);
  }
  $("kept").value = file.isKept ? file.key : "";
  $("kept").hidden = $("forget").hidden = !kept.length;
  $("forget").disabled = !file.isKept;
  return kept;
}

async function openKept(key) {
  const kept = (await store.keptFiles()).find(one => one.key === key);
  if (!kept) return;
  await store.keepFile({...kept, opens: true});
  await openText(kept.name, kept.text);
  await keepFile();
  $("kept").value = key;
}

/** Take over what another tab has corrected in the same file. */
async function refresh() {
  if (!file.isKept || isUnkept) return;
  for (const [number, state] of await store.keptEdits(file.key)) {
    const sentence = file.sentences[number];
    if (!sentence || !fits(sentence, state) || JSON.stringify(state) === JSON.stringify(sentence.state)) continue;
    Object.assign(sentence, {state, isEdited: true, found: null, changed: []});
    tellProgress(number);
  }
  load(current());
}

async function forget() {
  if (!confirm(`Forget ${file.name} and what was corrected in it?`)) return;
  await store.forget(file.key);
  isUnkept = false;
  await parseText();
  await listKept();
}

const written = (sentence, state) => sentence.isEdited ? writeSentence(sentence, state) : sentence.lines.join("");

const nameAs = what => file.name.replace(/(\.corrected|\.set)?(\.conllu?)?$/, `.${what}.conllu`);

/** Save the whole file. */
function save() {
  store.download(nameAs("corrected"), file.sentences.map(sentence => written(sentence, sentence.state)).join(""));
  isUnkept = false;
}

/** Save the sentences with words that are set, and of these words alone the heads and labels. */
function saveSet() {
  const sentences = file.sentences.filter(({state}) => state.set.length);
  if (!sentences.length) return report("No word is set.");
  store.download(nameAs("set"), sentences.map(sentence => writeSentence(sentence, sentence.state, true)).join(""));
}

// ---- Corrections

/** Correct the sentence that is shown.
 *  edit: Gets the tree; returns the new one, the words that take the parser's arc, and one that takes its label. */
function correct(edit) {
  const {at: number} = file, of = file, sentence = current();
  picked = null;
  return run(async () => {
    if (of !== file) return;
    // Its errors come from the parse of the correction, too.
    await suggest(sentence).catch(() => {});
    const {state: before, isEdited} = sentence, [edited, open = [], unlabeled] = edit(before, sentence);
    const {state, error} = await reparse(sentence, edited, open, unlabeled);
    past.push({number, before, after: state, wasEdited: isEdited});
    future = [];
    await put(number, state, true);
    if (error) throw error;
  });
}

/** Give a sentence another tree, and keep it. */
async function put(number, state, isEdited) {
  const sentence = file.sentences[number], before = sentence.state;
  sentence.changed = state.heads.flatMap((head, i) =>
    head !== before.heads[i] || state.deps[i] !== before.deps[i] ? [i] : []);
  Object.assign(sentence, {state, isEdited});
  tellProgress(number);
  if (sentence === current()) draw();
  isUnkept = true;
  tellKept();
  await keepFile([number, isEdited ? state : undefined]);
}

function step(from, to, name) {
  return run(async () => {
    const change = from.pop();
    if (!change) return;
    const {number, wasEdited} = change, sentence = file.sentences[number];
    to.push(change);
    picked = null;
    sentence.found = null;
    if (number !== file.at) show(number);
    await put(number, change[name], name === "after" || Boolean(wasEdited));
    await load(sentence);
  });
}

const withSet = (set, word) => [...new Set([...set, word])].sort((a, b) => a - b);

/** Set the head of a word, and its label if one is given. The word that makes way is free again. */
function setArc(word, head, dep) {
  return correct((state, sentence) => {
    const {heads, freed} = attach(state.heads, word, head, state.set), deps = [...state.deps];
    const open = freed < 0 ? [] : [freed];
    // Until the parser has better ones: the labels of roots fit roots alone.
    for (const i of [word, ...open]) {
      if ((heads[i] === i) !== (deps[i] === "root")) deps[i] = heads[i] === i ? "root" : "dep";
    }
    if (dep !== undefined) deps[word] = dep;
    else if (head === state.heads[word]) return [{...state, set: withSet(state.set, word)}];
    const set = withSet(state.set.filter(i => i !== freed), word);
    return [{...state, heads, deps, set}, dep === undefined ? [...open, word] : open, dep === undefined ? word : -1];
  });
}

const keepWord = word => correct(state => [state.heads[word] === null ? state : {...state, set: withSet(state.set, word)}]);
const keepAll = () => correct(state => [{...state, set: state.heads.flatMap((head, i) => head === null ? [] : [i])}]);
const setFree = word => correct(state => [{...state, set: state.set.filter(i => i !== word)}, [word]]);
const setCell = (name, word, value) => correct(state => [{...state, set: withSet(state.set, word),
  [name]: state[name].map((old, i) => i === word ? value : old)}]);
function takeArc(word) {
  const {found} = current();
  if (found && found.heads[word] !== null) setArc(word, found.heads[word], found.deps[word]);
}

// ---- What is shown

function show(number) {
  if (number < 0 || number >= file.sentences.length) return;
  [cursor, picked] = [0, null];
  file.rows[file.at].removeAttribute("aria-current");
  file.at = number;
  const sentence = current(), row = file.rows[number];
  sentence.changed = [];
  row.setAttribute("aria-current", "true");
  $("list").scrollTop = Math.max(0, row.offsetTop - $("list").offsetTop - $("list").clientHeight / 2);
  draw();
  $("tree").scrollLeft = isRightToLeft(sentence.words.join("")) ? 1e6 : 0;
  focusWord(0);
  if (file.isKept) store.keep(file.key, -1, number).catch(report);
  load(sentence);
}

/** Get the parse of a sentence and draw it, and then the parse of the next one, which comes while one looks. */
async function load(sentence) {
  // Who steps through many sentences does not wait for the parses of all.
  if (!sentence.found) await new Promise(resolve => setTimeout(resolve, 60));
  if (sentence !== current()) return;
  try {
    await suggest(sentence);
  } catch (error) {
    report(error);
  }
  if (sentence !== current()) return;
  placeMark();
  draw();
  const next = file.sentences[file.at + 1];
  if (next) suggest(next).catch(() => {});
}

/** Place the slider where a share of the arcs is marked, of the sentences that are parsed, until one moves it. */
function placeMark() {
  if (isMarkFinal || file.isMarked || !about.has_scores) return;
  const parsed = file.sentences.filter(({found}) => found);
  const sure = parsed.flatMap(sentence => sentence.words.map((_, i) => sureOf(sentence, i))).sort((a, b) => a - b);
  if (sure.length) moveMark(Math.floor(100 * sure[Math.round(MARKED * sure.length)]) / 100);
  file.isMarked = sure.length >= ENOUGH;
}

function moveMark(bound) {
  [$("doubt").value, $("below").textContent] = [bound, bound.toFixed(2)];
}

/** Whether a word has a label that the parser does not know, and that no other word of the file had. */
function isStrange({state, first}, i) {
  const dep = state.deps[i], n = file.labels.get(dep) ?? 0;
  return state.heads[i] !== null && dep !== "root" && !about.labels.includes(dep) && n === +(first.deps[i] === dep);
}

function tellProgress(number) {
  const {state, isEdited} = file.sentences[number], n = state.set.length;
  const text = n === state.heads.length ? "✓" : n ? `${n}/${state.heads.length}` : isEdited ? "·" : "";
  file.rows[number].children[1].textContent = text;
}

function draw() {
  const sentence = current(), {state, found, words} = sentence, box = $("tree");
  const scrolled = box.scrollLeft, hadFocus = box.contains(document.activeElement);
  box.replaceChildren();
  const kinds = words.map((_, i) => [state.set.includes(i) && "fixed", sentence.changed?.includes(i) && "changed",
    isDoubtful(sentence, i, +$("doubt").value) && "doubtful", isStrange(sentence, i) && "strange"].filter(Boolean).join(" "));
  drawTree(box, sentence, state, {kinds, titles: words.map((_, i) => titleOf(sentence, i)), cursor, picked});
  box.scrollLeft = scrolled;
  if (hadFocus) textOf(cursor).focus({preventScroll: true});
  drawBar(sentence);
  const isParsed = found && words.every((_, i) => found.heads[i] === state.heads[i]);
  const sure = about.has_scores && isParsed ? ` · all heads ${percent(found.tree)}` : "";
  $("place").textContent = `${file.at + 1} / ${file.sentences.length}`;
  $("about").textContent = `${sentence.id} · ${state.set.length} of ${words.length} words set${sure}`;
  $("sentence").textContent = sentence.text;
  $("conllu").textContent = written(sentence, state);
  [$("undo").disabled, $("redo").disabled] = [!past.length, !future.length];
  [$("previous").disabled, $("next").disabled] = [file.at === 0, file.at === file.sentences.length - 1];
}

function drawBar(sentence) {
  const {state, found, words} = sentence, word = picked ?? cursor;
  // Isolated, so that the number is on the left of a word from right to left, too.
  const name = i => `${i + 1} \u2068${words[i]}\u2069`;
  $("form-of-word").textContent = name(word);
  const fields = {dep: state.deps, upos: state.upos, lemma: state.lemmas};
  for (const id in fields) if ($(id) !== document.activeElement) $(id).value = fields[id][word];
  if ($("head") !== document.activeElement) {
    $("head").replaceChildren();
    words.forEach((_, i) => make($("head"), "option", {value: i}, i === word ? "ROOT" : name(i)));
    $("head").value = state.heads[word] ?? "";
  }
  [$("keep").disabled, $("free").disabled] = [state.set.includes(word), !state.set.includes(word)];
  const differs = found && found.heads[word] !== null && !state.set.includes(word) && !agrees(sentence, word);
  $("suggestion").textContent = picked !== null ? `Choose the head of ${words[picked]}, or Esc.`
    : isStrange(sentence, word) ? `The parser does not know the label ${state.deps[word]}, and no other word has it.`
    : differs ? titleOf(sentence, word).split("\n")[1] : "";
  $("take").hidden = picked !== null || !differs;
}

const textOf = word => $("tree").querySelector(`.word[data-word="${word}"]`);

function focusWord(word) {
  textOf(word).focus({preventScroll: true});
  textOf(word).scrollIntoView({block: "nearest", inline: "nearest"});
}

function moveTo(word) {
  cursor = word;
  draw();
  focusWord(word);
}

/** Pick a word, or make it the head of the word that was picked before. */
function choose(word) {
  if (picked === null) {
    picked = word;
    return moveTo(word);
  }
  cursor = picked;
  setArc(picked, word);
}

function edit(id) {
  $(id).focus();
  $(id).select?.();
}

function nextDoubtful() {
  const sentence = current(), n = sentence.words.length;
  const places = sentence.words.map((_, i) => (cursor + 1 + i) % n);
  const word = places.find(i => isDoubtful(sentence, i, +$("doubt").value));
  if (word !== undefined) moveTo(word);
}

/** Go to the word of the file of whose arc the parser is least sure, and that this has not gone to before.
 *  own: Number of the search, which ends when another number is the last one. */
async function leastCertain(own) {
  const {sentences} = file;
  for (let at = 0; at < sentences.length; at++) {
    if (!sentences[at].found) {
      $("suggestion").textContent = `Parsing sentence ${at + 1} of ${sentences.length}… Any key stops it.`;
    }
    await suggest(sentences[at]);
    if (own !== search || sentences !== file.sentences) return drawBar(current());
  }
  const words = sentences.flatMap((sentence, number) => sentence.words.map((_, i) => ({number, i, sentence})))
    .filter(({sentence, i}) => !sentence.state.set.includes(i) && !sentence.seen?.has(i));
  if (!words.length) return report("Every word is set or was looked at.");
  const {sentence, number, i} = words.reduce((best, one) =>
    sureOf(one.sentence, one.i) < sureOf(best.sentence, best.i) ? one : best);
  (sentence.seen ??= new Set()).add(i);
  if (number !== file.at) show(number);
  moveTo(i);
}

// ---- Keys and buttons

const move = by => moveTo(Math.max(0, Math.min(current().words.length - 1, cursor + by)));
const sideways = by => move(isRightToLeft(current().words.join("")) ? -by : by);
const KEYS = {
  ArrowLeft: () => sideways(-1),
  ArrowRight: () => sideways(1),
  ArrowUp: () => moveTo(current().state.heads[cursor] ?? cursor),
  Home: () => moveTo(0),
  End: () => move(1e6),
  Escape: () => { picked = null; moveTo(cursor); },
  d: nextDoubtful,
  u: () => {
    const own = search;
    queue.then(() => leastCertain(own)).catch(report);
  },
  l: () => edit("dep"),
  k: () => keepWord(cursor),
  f: () => setFree(cursor),
  s: () => takeArc(cursor),
  a: () => { keepAll(); show(file.at + 1); },
  n: () => show(file.at + 1),
  p: () => show(file.at - 1),
};
const COMMANDS = {z: () => undo(), y: () => redo(), Z: () => redo(), s: save};
const undo = () => step(past, future, "before");
const redo = () => step(future, past, "after");

document.addEventListener("pointerdown", () => { search++; });
document.addEventListener("keydown", event => {
  search++;
  const inField = event.target.matches("input, select, textarea");
  // On a keyboard of another script, the place of a letter counts.
  const letter = event.shiftKey ? event.code.slice(3) : event.code.slice(3).toLowerCase();
  const key = /^[^\x00-\x7f]$/.test(event.key) ? letter : event.key;
  let act = null;
  if (event.altKey) return;
  if (event.ctrlKey || event.metaKey) act = inField && key !== "s" ? null : COMMANDS[key];
  else if (inField) act = key === "Escape" && event.target.form === $("word") ? KEYS.Escape : null;
  else if (key === "Enter") act = event.target.matches(".word, body") && !event.repeat ? () => choose(cursor) : null;
  else act = KEYS[key];
  if (!act || !current()) return;
  event.preventDefault();
  act();
});

/** Have a field of the word's bar act when its value is chosen, and then give the focus back to the word. */
function onValue(id, act) {
  const field = $(id);
  let last = null;
  const commit = () => {
    const word = picked ?? cursor, value = field.value.trim();
    if (!value || (id === "lemma" ? /\t/ : /\s/).test(value) || value === last) return;
    last = value;
    queue.then(() => { last = null; });
    cursor = word;
    focusWord(word);
    act(word, value);
  };
  field.addEventListener("change", commit);
  field.addEventListener("input", event => { if (event.inputType === "insertReplacementText") commit(); });
}

onValue("head", (word, value) => setArc(word, +value));
onValue("dep", (word, value) => setArc(word, current().state.heads[word] ?? word, value));
onValue("upos", (word, value) => setCell("upos", word, value));
onValue("lemma", (word, value) => setCell("lemmas", word, value));
$("word").addEventListener("submit", event => { event.preventDefault(); focusWord(cursor); });
listen($("tree"), (word, head) => { cursor = word; setArc(word, head); }, choose, word => {
  moveTo(word);
  edit("dep");
});
const clicks = {open: () => $("file").click(), save, "save-set": saveSet, undo, redo, copy: () => run(() => store.copyText($("conllu").textContent)), forget: () => run(forget),
  previous: KEYS.p, next: KEYS.n, take: KEYS.s, keep: KEYS.k, free: KEYS.f, "keep-all": KEYS.a};
for (const id in clicks) $(id).addEventListener("click", clicks[id]);
$("file").addEventListener("change", () => {
  const [given] = $("file").files;
  run(() => openFile(given));
  $("file").value = "";
});
$("kept").addEventListener("change", () => run(() => openKept($("kept").value)));
$("form").addEventListener("submit", event => {
  event.preventDefault();
  run(async () => { await parseText(); await listKept(); });
});
$("doubt").addEventListener("input", () => {
  isMarkFinal = true;
  moveMark(+$("doubt").value);
  draw();
});
for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(type, event => {
    event.preventDefault();
    document.body.classList.toggle("drop", type === "dragenter" || type === "dragover");
    if (type === "drop") {
      const [given] = event.dataTransfer.files;
      run(() => openFile(given));
    }
  });
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) run(refresh); });
addEventListener("beforeunload", event => { if (isUnkept) event.preventDefault(); });

run(async () => {
  await askAbout();
  $("name").textContent = `${about.name} ${about.version}`;
  for (const text of about.labels) make($("labels"), "option", {value: text});
  for (const text of TAGS) make($("tags"), "option", {value: text});
  const [last] = await listKept();
  if (last) await openKept(last.key).catch(report);
  if (!file.sentences.length) await parseText();
  $("typed").open = !file.isKept;
});
