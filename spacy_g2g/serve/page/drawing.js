// The picture of a sentence: words, arcs above them, parts of speech and multiword tokens below.

const GAP = 18, STEP = 22, PORT = 6, BELOW = 30, REACH = 140;
const FONT = "system-ui, sans-serif";
const measure = document.createElement("canvas").getContext("2d");

/** Add an element to another one. */
export function make(parent, name, attributes = {}, text = "") {
  const isSvg = ["svg", "path", "text", "g", "title"].includes(name);
  const made = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.textContent = text;
  parent.append(made);
  return made;
}

/** Whether most letters of a text are written from right to left. */
export function isRightToLeft(text) {
  const right = text.match(/[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/gu) ?? [];
  return 2 * right.length > (text.match(/\p{L}/gu) ?? []).length;
}

const widthOf = (size, text) => {
  measure.font = `${size}px ${FONT}`;
  return measure.measureText(text).width;
};

/** Centres of the words, at which no words touch and each label fits below its arc; and levels of the arcs. */
function place({words, ranges}, {heads, deps, upos}) {
  const isArc = word => heads[word] !== null && heads[word] !== word;
  const ends = word => [Math.min(word, heads[word]), Math.max(word, heads[word])];
  const arcs = words.map((_, i) => i).filter(isArc);
  const widths = words.map((word, i) => {
    const n = heads.filter(head => head === i).length;
    return Math.max(24, widthOf(16, word), widthOf(11, upos[i]), PORT * (n + 1));
  });
  const xs = [];
  words.forEach((_, i) => {
    let x = i ? xs[i - 1] + (widths[i - 1] + widths[i]) / 2 + GAP : GAP + widths[0] / 2;
    for (const word of arcs) {
      const [left, right] = ends(word);
      if (right === i) x = Math.max(x, xs[left] + widthOf(12, deps[word] + "?") + 3 * PORT);
    }
    for (const {first, last, form} of ranges) {
      if (last === i) x = Math.max(x, xs[first] + widthOf(11, form) + GAP - (widths[first] + widths[i]) / 2);
    }
    xs.push(x);
  });
  const levels = words.map(() => 0), tops = words.map(() => 0);
  for (const word of arcs.sort((a, b) => Math.abs(a - heads[a]) - Math.abs(b - heads[b]))) {
    const [left, right] = ends(word);
    levels[word] = 1 + Math.max(...tops.slice(left, right));
    tops.fill(levels[word], left, right);
  }
  const width = xs.length ? xs[xs.length - 1] + widths[widths.length - 1] / 2 + GAP : 0;
  const mirrored = isRightToLeft(words.join(""));
  return {xs: mirrored ? xs.map(x => width - x) : xs, widths, levels, width};
}

/** Draw a sentence into a box.
 *  kinds: For each word, classes of its arc and label.
 *  titles: For each word, what there is to say of its arc.
 *  cursor, picked: The word that keys act on, and the one that waits for a head. */
export function draw(box, sentence, state, {kinds, titles, cursor, picked}) {
  const {heads, deps, upos} = state, {words, ranges} = sentence;
  const {xs, widths, levels, width} = place(sentence, state);
  const top = Math.max(0, ...levels) + 1, base = top * STEP + 24;
  const height = base + BELOW + (upos.some(tag => tag !== "_") ? 16 : 0) + (ranges.length ? 24 : 0);
  const svg = make(box, "svg", {width, height, role: "group", "aria-label": sentence.text});
  const ports = words.map(() => [0, 0]);
  const order = words.map((_, i) => i).sort((a, b) => (levels[b] || top) - (levels[a] || top));
  for (const word of order) {
    const head = heads[word], x = xs[word], y = base - 6 - STEP * (levels[word] || top), kind = kinds[word];
    const group = make(svg, "g", {class: kind});
    let middle = x;
    if (head === null || head === word) {
      if (head === word) make(group, "path", {d: `M${x},${base}V${y}`});
    } else {
      const side = xs[head] < x ? 1 : 0, from = xs[head] + (side ? 1 : -1) * PORT * ++ports[head][side];
      make(group, "path", {d: `M${from},${base}V${y}H${x}V${base}`});
      // The label of a long arc stays near its word.
      middle = x + Math.max(-REACH, Math.min(REACH, (from - x) / 2));
    }
    if (head !== null) make(group, "path", {class: "tip", d: `M${x - 3},${base - 6}L${x},${base}L${x + 3},${base - 6}`});
    const text = head === null ? "?" : deps[word] + (/doubtful/.test(kind) ? "?" : "") + (/strange/.test(kind) ? "!" : "");
    const label = make(group, "text", {class: "label", x: middle, y: y - 3, "data-word": word}, text);
    make(label, "title", {}, titles[word]);
  }
  words.forEach((form, i) => {
    const name = ["word", i === cursor && "cursor", i === picked && "picked", state.set.includes(i) && "set"];
    const attributes = {class: name.filter(Boolean).join(" "), x: xs[i], y: base + 18, role: "button",
      tabindex: i === cursor ? 0 : -1, "data-word": i, "aria-label": `${form}, ${deps[i]}`};
    if (upos[i] !== "_") make(svg, "text", {class: "upos", x: xs[i], y: base + 35}, upos[i]);
    make(svg, "text", attributes, form);
  });
  for (const {first, last, form} of ranges) {
    const ends = [first, last].flatMap(i => [xs[i] - widths[i] / 2, xs[i] + widths[i] / 2]);
    const [left, right] = [Math.min(...ends), Math.max(...ends)], y = height - 22;
    make(svg, "path", {class: "range", d: `M${left},${y}v4H${right}v-4`});
    make(svg, "text", {class: "upos", x: (left + right) / 2, y: y + 16}, form);
  }
}

/** Let the mouse drag a word to another one in a box, or click it or a label. A finger that moves scrolls.
 *  onDrag, onClick, onLabel: Get the word that was dragged and its target, and the word that was clicked. */
export function listen(box, onDrag, onClick, onLabel) {
  // The picture may be drawn anew while the mouse is down.
  let start = null, line = null;
  const hitBy = event => {
    const hit = document.elementFromPoint(event.clientX, event.clientY);
    return hit?.matches(".word, .label") && box.contains(hit) ? [+hit.dataset.word, hit.matches(".word")] : null;
  };
  const end = () => {
    line?.remove();
    start = line = null;
  };
  box.addEventListener("pointerdown", event => { start = event.button ? null : hitBy(event); });
  box.addEventListener("pointermove", event => {
    if (!start?.[1]) return;
    const svg = box.querySelector("svg"), {left, top} = svg.getBoundingClientRect();
    const word = svg.querySelector(`.word[data-word="${start[0]}"]`).getBoundingClientRect();
    if (!line?.isConnected) line = make(svg, "path", {class: "drag"});
    const from = word.left + word.width / 2 - left, to = event.clientX - left, y = word.bottom - top;
    line.setAttribute("d", `M${from},${y}Q${(from + to) / 2},${y + 18} ${to},${y}`);
  });
  box.addEventListener("pointerup", event => {
    const first = start, target = hitBy(event);
    end();
    if (!first || !target || first[1] !== target[1]) return;
    if (first[0] !== target[0]) return first[1] && onDrag(first[0], target[0]);
    first[1] ? onClick(first[0]) : onLabel(first[0]);
  });
  box.addEventListener("pointercancel", end);
}
